"""A calibration follows what the provider reports, and is not led astray."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.tokens import Calibration


def test_before_anything_is_reported_counts_stay_as_they_are() -> None:
    assert Calibration().applied(1_234) == 1_234


def test_the_first_report_is_taken_whole() -> None:
    assert Calibration().observed(1_000, 1_250) == Calibration(1.25, 1)


def test_five_reports_are_averaged_and_then_the_newest_weighs_a_fifth() -> None:
    calibration = Calibration()
    for reported in (1_000, 1_200, 1_100, 1_300, 1_400):
        calibration = calibration.observed(1_000, reported)

    assert calibration.factor == pytest.approx(1.2)
    assert calibration.observed(1_000, 1_700).factor == pytest.approx(1.3)


@pytest.mark.parametrize(("counted", "reported"), [(0, 10), (499, 900), (10_000, 0), (10_000, -5), (-1, -1)])
def test_what_says_nothing_changes_nothing(counted: int, reported: int) -> None:
    assert Calibration(1.1, 3).observed(counted, reported) == Calibration(1.1, 3)


def test_a_report_of_another_request_is_believed_within_bounds_only() -> None:
    assert Calibration().observed(1_000, 90_000).factor == 2.0
    assert Calibration().observed(90_000, 1_000).factor == 0.5


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(-10, 10**7)), max_size=30))
def test_the_factor_always_stays_within_its_bounds(reports: list[tuple[int, int]]) -> None:
    calibration = Calibration()
    for counted, reported in reports:
        calibration = calibration.observed(counted, reported)

    assert 0.5 <= calibration.factor <= 2.0
