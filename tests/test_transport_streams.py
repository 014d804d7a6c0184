"""Streams ask for their usage; a host that has not asked for it gets no piece that only says what was used."""

from __future__ import annotations

from typing import Any

import pytest
from forked import RunScript
from transport_streams import ROUTES

MODELS = list(ROUTES)
OVER_CHAT = [model for model in MODELS if "responses" not in model and "anthropic" not in model]


@pytest.fixture(scope="module")
def seen(with_litellm: RunScript) -> dict[str, Any]:
    return dict(with_litellm("transport_streams.py", ELISION_ARCHIVE="", ELISION_PLUGINS="")[0])


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("asking", ["not asked", "something else asked"])
@pytest.mark.parametrize("model", MODELS)
def test_every_piece_has_a_choice_where_nobody_asked_for_usage_and_the_session_knows_it(
    seen: dict[str, Any], model: str, asking: str, way: str
) -> None:
    found = seen["streams"][f"{model}, {asking}, {way}"]

    assert found["text"] == "Looking now."
    assert (found["empty"], found["told"]) == (0, [])
    assert found["known"] == found["used"]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize("model", MODELS)
def test_who_asks_for_usage_gets_it_in_the_last_piece(seen: dict[str, Any], model: str, way: str) -> None:
    found = seen["streams"][f"{model}, asked, {way}"]

    assert found["text"] == "Looking now."
    assert (found["empty"], found["told"]) == (1, found["used"])
    assert found["known"] == found["used"]


@pytest.mark.parametrize("model", OVER_CHAT)
def test_what_a_host_says_of_its_stream_is_sent_and_usage_asked_for_beside_it(seen: dict[str, Any], model: str) -> None:
    told = [seen["streams"][f"{model}, {asking}, sync"]["sent"] for asking in ("something else asked", "refused")]

    assert told == [{"include_obfuscation": False, "include_usage": True}, {"include_usage": False}]


def test_a_guess_at_the_usage_of_a_provider_that_does_not_say_reaches_nobody(seen: dict[str, Any]) -> None:
    assert seen["silent"] == [0, 0]
