"""What is wrong with a profile is told in one run, with its place and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision import ConfigError
from elision.profiles import lint_profile, load_profile, profile_for
from elision.profiles.written import SECTIONS, WrittenHead

Write = Callable[[str, str], Path]
EXPECTED = (
    "give a profile as YAML, with sections such as 'cache:' at the top (thinking, order, cache, window, images, "
    "tokens, native, prices)"
)

TENS = [
    f"{each}: &{each} [{','.join([before] * 10)}]" for before, each in zip(["1", "*a", "*b", "*c"], "abcd", strict=True)
]
BOMB = "\n".join([*TENS, "models: [*d, *d]"])


def lint(path: Path) -> list[str]:
    return [str(problem).removeprefix(f"{path.parent}/") for problem in lint_profile(path)]


PROBLEMS = {
    "cach: {}": "p.yaml:1:1: cach: a profile has no 'cach'; did you mean 'cache'?",
    "cache: {lookback_block: 20}": (
        "p.yaml:1:9: cache.lookback_block: 'cache' has no option 'lookback_block'; did you mean 'lookback_blocks'?"
    ),
    "cache: 5": ("p.yaml:1:8: cache: cache is the single value 5; it must be a mapping; write 'marks: …' under it"),
    "cache: {marks: explict}": (
        "p.yaml:1:16: cache.marks: marks is 'explict'; it must be 'none', 'automatic', 'explicit' or 'both'; "
        "correct it or leave it out"
    ),
    "cache: {breakpoints: -1}": (
        "p.yaml:1:22: cache.breakpoints: breakpoints is -1; it must be at least 0; correct it or leave it out"
    ),
    "cache: {breakpoints: true}": (
        "p.yaml:1:22: cache.breakpoints: breakpoints is true; it must be a whole number; correct it or leave it out"
    ),
    "cache: {min_tokens: 1.5}": (
        "p.yaml:1:21: cache.min_tokens: min_tokens is 1.5; it must be a whole number; correct it or leave it out"
    ),
    "cache: {unit_tokens: 0}": (
        "p.yaml:1:22: cache.unit_tokens: unit_tokens is 0; it must be at least 1; correct it or leave it out"
    ),
    "cache: {ttl: []}": "p.yaml:1:14: cache.ttl: ttl is a list; it must be at least 1 long; correct it or leave it out",
    "cache: {ttl: [{seconds: 300, factor: 2}]}": (
        "p.yaml:1:30: cache.ttl[0].factor: 'ttl[0]' has no option 'factor'; did you mean 'write_factor'?"
    ),
    "cache: {ttl: [{write_factor: 1}]}": "p.yaml:1:15: cache.ttl[0]: 'ttl[0]' needs 'seconds'; add 'seconds: …'",
    "cache: {ttl: [{seconds: 300, write_factor: 0.5}]}": (
        "p.yaml:1:44: cache.ttl[0].write_factor: ttl[0].write_factor is 0.5; it must be at least 1.0; correct it"
    ),
    "cache: {ttl: [{seconds: 3600}, {seconds: 300}]}": (
        "p.yaml:1:8: cache: ttl must go from the shortest to the longest; put them in order"
    ),
    "cache: {marks: explicit, breakpoints: 0}": (
        "p.yaml:1:8: cache: marks is 'explicit' with 0 breakpoints, so nothing could be cached; allow at least 1"
    ),
    "cache: {marks: }": "p.yaml:1:15: cache.marks: marks is empty; give it a value, or remove it",
    "cache: {ttl: null}": "p.yaml:1:14: cache.ttl: ttl is empty; give it a value, or remove it",
    "prices: {input: ~}": "p.yaml:1:17: prices.input: input is empty; give it a value, or remove it",
    "extends:": "p.yaml:1:9: extends: extends is empty; give it a value, or remove it",
    "thinking: {rule: newest}": (
        "p.yaml:1:18: thinking.rule: rule is 'newest'; it must be 'none', 'newest_step', 'tool_turns' or "
        "'bound_to_prefix'; correct it or leave it out"
    ),
    "order: {first_user: 1}": (
        "p.yaml:1:21: order.first_user: first_user is 1; it must be true or false; correct it or leave it out"
    ),
    "window: {input_tokens: 0}": (
        "p.yaml:1:24: window.input_tokens: input_tokens is 0; it must be at least 1; correct it or leave it out"
    ),
    "prices: {input: -3}": (
        "p.yaml:1:17: prices.input: input is -3; it must be greater than 0.0; correct it or leave it out"
    ),
    "prices: {cache_write: 0}": (
        "p.yaml:1:23: prices.cache_write: cache_write is 0; it must be greater than 0.0; correct it or leave it out"
    ),
    "prices: {input: .nan}": (
        "p.yaml:1:17: prices.input: input is nan; it must be a finite number; correct it or leave it out"
    ),
    "prices: {input: .inf}": (
        "p.yaml:1:17: prices.input: input is inf; it must be a finite number; correct it or leave it out"
    ),
    "prices: {input: '3'}": "p.yaml:1:17: prices.input: input is '3'; it must be a number; correct it or leave it out",
    "prices: {input: 3, cache_read: 4}": (
        "p.yaml:1:9: prices: cache_read is 4 and input 3: a cache read never costs more; correct one"
    ),
    "prices: {input: 3, cache_write: 1}": (
        "p.yaml:1:9: prices: cache_write is 1 and input 3: what is not in the cache costs at least the input; "
        "leave cache_write out for the price of input"
    ),
    "prices: {tiers: [{input: 3}]}": (
        "p.yaml:1:18: prices.tiers[0]: 'tiers[0]' needs 'above_tokens'; add 'above_tokens: …'"
    ),
    "prices: {tiers: [{above_tokens: 9, input: 3}, {above_tokens: 9, input: 4}]}": (
        "p.yaml:1:9: prices: tiers must go from the lowest 'above_tokens' to the highest; put them in order"
    ),
    "tokens: {encoding: o200k}": (
        "p.yaml:1:20: tokens.encoding: encoding is 'o200k'; it must be 'o200k_base', 'cl100k_base' or 'p50k_base'; "
        "correct it or leave it out"
    ),
    "models: 5": "p.yaml:1:9: models: models is 5; it must be a list; correct it or leave it out",
    "models: []": "p.yaml:1:9: models: models is a list; it must be at least 1 long; correct it or leave it out",
    "variants: {models: x}": (
        "p.yaml:1:11: variants: variants is a mapping; it must be a list; begin each variant with '- models:'"
    ),
    "variants: [x]": "p.yaml:1:12: variants[0]: a variant is a mapping, this is text; write '- models: …'",
    "variants: [{cache: {min_tokens: 5}}]": (
        "p.yaml:1:12: variants[0]: a variant needs 'models' or 'providers'; add one, or move it to the top"
    ),
    "variants: [{models: x, home: y}]": (
        "p.yaml:1:24: variants[0].home: a variant has no 'home'; it has: cache, images, models, native, order, prices, "
        "providers, thinking, tokens, window; correct or remove it"
    ),
    "variants: [{models: x, cache: {breakpoints: -1}}]": (
        "p.yaml:1:45: variants[0].cache.breakpoints: breakpoints is -1; it must be at least 0; correct it or "
        "leave it out"
    ),
    "cache: {breakpoints: 1, breakpoints: 2}": (
        "p.yaml:1:25: cache.breakpoints: 'breakpoints' stands twice, first in line 1; the last one counts; remove one"
    ),
    "cache: {marks: !!python/name:os.system ''}": (
        "p.yaml:1:16: cache.marks: tag '!!python/name:os.system' is not known here; allowed: YAML's own values and "
        "!!set; remove the tag"
    ),
    "cache: &a {ttl: [*a]}": (
        "p.yaml:1:17: cache.ttl[0].ttl: an alias in this block refers to the block itself; write out what is meant"
    ),
    "- x": f"p.yaml:1:1: the file is a list; {EXPECTED}",
    "": f"p.yaml:1:1: the file is empty; {EXPECTED}",
}


@pytest.mark.parametrize(("text", "expected"), PROBLEMS.items(), ids=list(PROBLEMS))
def test_a_problem_is_told_with_its_place_and_what_to_do(write: Write, text: str, expected: str) -> None:
    path = write("p.yaml", text)

    assert lint(path) == [expected]
    with pytest.raises(ConfigError) as caught:
        profile_for("gpt-4o", overrides=path)
    assert len(caught.value.problems) == 1


def test_all_problems_are_told_in_one_run_in_the_order_of_the_file(write: Write) -> None:
    path = write(
        "p.yaml",
        """\
        cache: {marks: no, lookback: 5}
        prices: {input: 0}
        variants:
          - models: x
            thinkin: {rule: none}
        """,
    )

    assert [line.split(": ")[0] for line in lint(path)] == ["p.yaml:1:16", "p.yaml:1:20", "p.yaml:2:17", "p.yaml:5:5"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cache:\n\tmarks: none", "a tab stands where YAML takes only spaces"),
        ("cache: [", "this is not YAML"),
        ("a: 1\n---\nb: 2", "a second YAML document begins here"),
        ("cache: " + "[" * 200, "values are nested more than 60 deep"),
        ("description: " + "x" * 1_000_001, "too large for a config"),
        ("prices: {input: " + "9" * 5000 + "}", "this number has 5,000 characters"),
        (BOMB, "this has more than 10,000 values"),
    ],
    ids=["tab", "open", "two documents", "deep", "large", "long number", "aliases"],
)
def test_a_hostile_file_is_a_located_problem(write: Write, text: str, told: str) -> None:
    found = lint_profile(write("p.yaml", text))

    assert [problem for problem in found if told in str(problem)], found


def test_a_name_that_is_no_profile_gets_the_nearest_one() -> None:
    with pytest.raises(ConfigError) as caught:
        load_profile("antropic")

    assert (
        str(caught.value) == "antropic: there is no such file, and no profile of that name; did you mean 'anthropic'?"
    )


def test_a_misspelt_profile_to_extend_gets_the_nearest_one(write: Write) -> None:
    (problem,) = lint(write("p.yaml", "extends: opnai\n"))

    assert problem.endswith("there is no such file, and no profile of that name; did you mean 'openai'?")


def test_a_profile_that_extends_itself_is_told_so(write: Write) -> None:
    write("b.yaml", "extends: a.yaml\n")
    (problem,) = lint(write("a.yaml", "extends: b.yaml\n"))

    assert "a profile cannot extend itself" in problem
    assert problem.endswith("a.yaml; correct 'extends'")


def test_problems_of_the_profile_that_is_extended_are_told_too(write: Write) -> None:
    write("base.yaml", "window: {input_tokens: 0}\n")
    path = write("p.yaml", "extends: base.yaml\nwindow: {output_tokens: 0}\n")

    assert [line.split(": ")[0] for line in lint(path)] == ["base.yaml:1:24", "p.yaml:2:25"]


@pytest.mark.parametrize("given", [{"cache": object()}, {"cache": {1: 2}}, {3: 4}, {"cache": {"ttl": {1, 2}}}])
def test_a_mapping_that_is_no_plain_data_is_a_problem(given: Any) -> None:
    with pytest.raises(ConfigError):
        profile_for("gpt-4o", overrides=given)


NAMES = sorted(
    {"variants", "seconds", "above_tokens", *WrittenHead.model_fields, *SECTIONS}
    | {key for section in SECTIONS.values() for key in section.model_fields}
)
KEYS = st.sampled_from(NAMES)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["explicit", "none", "a*", "openai", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=5), st.sampled_from(["gpt-4o", "a-model", "claude-opus-4-5"]))
def test_any_data_is_a_profile_or_a_problem(data: dict[str, Any], model: str) -> None:
    try:
        prices = profile_for(model, overrides=data).prices
    except ConfigError:
        prices = profile_for(model).prices

    assert 0 <= prices.base.cache_read <= prices.base.input <= prices.base.cache_write


def test_a_folder_is_no_profile(tmp_path: Path) -> None:
    assert [str(problem) for problem in lint_profile(tmp_path)] == [f"{tmp_path}: this is a folder; name a file in it"]
