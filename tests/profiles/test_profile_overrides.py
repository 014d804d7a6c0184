"""A user's own values win over the price map and over what ships."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import elision
from elision import Chain, ConfigError
from elision.config import lint_file
from elision.profiles import Order, Profile, Rates, profile_for
from elision.testing import call, conversation, image, result

Write = Callable[[str, str], Path]


def test_one_value_is_overridden_and_the_others_stay() -> None:
    found = profile_for(
        "claude-sonnet-4-5", overrides={"cache": {"lookback_blocks": 40}, "prices": {"cache_read": 0.1}}
    )

    assert (found.cache.lookback_blocks, found.cache.breakpoints) == (40, 4)
    assert (found.prices.base.cache_read, found.prices.base.cache_write) == (0.1, 3.75)
    assert found.prices.write_over_read == pytest.approx(37.5)
    assert found.sources["prices.cache_read"] == "<profile>"


def test_overrides_in_a_file_do_the_same_and_name_it(write: Write) -> None:
    path = write("mine.yaml", "window: {input_tokens: 50_000, source: our contract}\n")
    found = profile_for("gpt-4o", overrides=path)

    assert (found.window.input_tokens, found.window.output_tokens) == (50_000, 16_384)
    assert found.sources["window.input_tokens"] == f"{path}: our contract"
    assert profile_for("gpt-4o", overrides=str(path)).window == found.window


def test_variants_of_overrides_hold_for_their_models_and_providers(write: Write) -> None:
    path = write(
        "mine.yaml",
        """\
        thinking: {rule: none}
        variants:
          - models: "our-big-*"
            thinking: {rule: newest_step}
          - providers: gateway
            cache: {min_tokens: 7}
        """,
    )
    rules = {
        model: (found.thinking.rule, found.cache.min_tokens)
        for model in ("our-big-1", "gateway/our-big-1", "our-small-1")
        for found in [profile_for(model, overrides=path)]
    }

    assert rules == {
        "our-big-1": ("newest_step", 1024),
        "gateway/our-big-1": ("newest_step", 7),
        "our-small-1": ("none", 1024),
    }


def test_a_model_of_another_name_takes_the_profile_that_its_overrides_extend() -> None:
    found = profile_for("azure/our-deployment", overrides={"extends": "openai", "window": {"input_tokens": 400_000}})

    assert (found.name, found.cache.unit_tokens, found.window.input_tokens) == ("openai", 128, 400_000)
    assert not [line for line in found.assumed if "no profile matches" in line]


def test_the_name_of_a_profile_is_an_override_too() -> None:
    found = profile_for("our-deployment", overrides="deepseek")

    assert (found.name, found.cache.match) == ("deepseek", "request")


def test_files_extend_one_another_by_their_paths(write: Write) -> None:
    write("base.yaml", "extends: anthropic\norder: {alternate: true}\n")
    path = write("mine.yaml", "extends: base.yaml\norder: {first_user: false}\n")

    assert profile_for("our-claude", overrides=path).order == Order(
        first_user=False, alternate=True, results_together=True, unique_call_ids=True
    )


def test_prices_of_an_unknown_model_are_known_once_they_are_given() -> None:
    found = profile_for("our-model", overrides={"prices": {"input": 3, "cache_read": 0.3, "output": 9}})

    assert found.prices.base == Rates(3, 0.3, 3, 9)
    assert found.prices.known
    assert not [line for line in found.assumed if line.startswith("prices")]


def test_prices_stay_possible_where_only_one_is_given() -> None:
    dearer = profile_for("claude-sonnet-4-5", overrides={"prices": {"input": 5}})
    cheaper = profile_for("claude-sonnet-4-5", overrides={"prices": {"input": 0.2}})

    assert (dearer.prices.base.cache_write, cheaper.prices.base.cache_read) == (5, 0.2)


def test_tiers_of_overrides_take_the_place_of_those_of_the_map(write: Write) -> None:
    tiers = [{"above_tokens": 100, "input": 9, "output": 30}]
    found = profile_for("gpt-5.6", overrides={"prices": {"tiers": tiers}})

    assert [(tier.above_tokens, tier.rates.input, tier.rates.cache_read) for tier in found.prices.tiers] == [
        (100, 9, pytest.approx(0.9))
    ]
    assert profile_for("gpt-5.6", overrides={"prices": {"tiers": []}}).prices.tiers == ()


def test_a_limit_that_is_empty_is_none() -> None:
    empty = {"cache": {"lookback_blocks": None}, "images": {"max_images": None}}
    found = profile_for("claude-sonnet-4-5", overrides=empty)

    assert (found.cache.lookback_blocks, found.images.max_images, found.images.max_edge) == (None, None, 8000)


def test_what_a_tier_leaves_empty_rises_as_its_input_does() -> None:
    tiers = [{"above_tokens": 9, "input": 6, "output": None, "cache_write": None}]
    found = profile_for("claude-sonnet-4-5", overrides={"prices": {"tiers": tiers}})

    assert found.prices.at(10) == Rates(6, 0.6, 7.5, 30)


def test_what_overrides_call_assumed_is_said(write: Write) -> None:
    found = profile_for("gpt-4o", overrides={"cache": {"min_tokens": 9, "source": "assumed: a guess of ours"}})

    assert found.assumed == ("cache: min_tokens 9: a guess of ours",)


def test_marks_without_breakpoints_are_an_error_whichever_layers_say_so() -> None:
    with pytest.raises(ConfigError) as caught:
        profile_for("gpt-4o", overrides={"cache": {"marks": "explicit"}})

    assert str(caught.value) == (
        "<profile>: cache: marks is 'explicit' with 0 breakpoints, so nothing could be cached; add 'breakpoints: 4'"
    )


def test_a_profile_of_a_model_is_the_same_with_empty_overrides() -> None:
    plain: Profile = profile_for("claude-sonnet-4-5")
    empty: dict[str, Any] = {"description": "nothing"}

    assert profile_for("claude-sonnet-4-5", overrides=empty) == plain


def test_the_profile_of_a_chain_reaches_what_it_counts_and_decides() -> None:
    own = {"tokens": {"factor": 3}, "images": {"rule": "fixed", "unknown_size_tokens": 7}}
    messages = conversation().user("hello there " * 50).messages()
    pictures = conversation().user(image()).messages()
    plain, ours = (Chain([], profile=each, archive="memory:") for each in (None, own))
    texts = [each.process(messages, model="gpt-5") for each in (plain, ours)]
    images = [each.process(pictures, model="gpt-5").tokens.before for each in (plain, ours)]

    assert texts[1].tokens.before == 3 * texts[0].tokens.before == texts[1].cache.input_tokens
    assert images == [765, 7]
    assert profile_for("gpt-5").tokens.factor == 1


def test_the_window_of_a_chains_profile_is_the_one_that_a_share_is_of() -> None:
    run = conversation().user("Go.")
    for number in range(9):
        run = run.step(call("grep", pattern=f"{number}"), result("a line of it\n" * 60))
    chains = [
        elision.loads(
            f"history_processors: [{{type: clear_tool_results, keep: 1, trigger_share: 0.9}}]{more}", archive="memory:"
        )
        for more in ("", "\nprofile: {window: {input_tokens: 1200}}")
    ]
    plain, small = (each.process(run.messages(), model="claude-sonnet-4-5") for each in chains)

    assert (bool(plain.edits), bool(small.edits)) == (False, True)


def test_a_profile_in_a_chain_file_is_found_from_its_folder_and_its_problems_are_told(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text("window: {input_tokens: 900}", encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text("windov: {input_tokens: 900}", encoding="utf-8")
    for name in ("ours", "wrong"):
        text = f"history_processors: []\nprofile: {name}.yaml\n"
        (tmp_path / f"with_{name}.yaml").write_text(text, encoding="utf-8")
    found = elision.load(tmp_path / "with_ours.yaml")
    (problem,) = lint_file(tmp_path / "with_wrong.yaml")

    assert found.own_profile is not None
    assert str(problem).endswith("wrong.yaml:1:1: windov: a profile has no 'windov'; did you mean 'window'?")


def test_without_a_cache_everything_is_paid_as_input_so_that_nothing_waits_for_a_rewrite_to_pay() -> None:
    found = profile_for("claude-sonnet-4-5", overrides={"cache": {"marks": "none"}})

    assert found.prices.base == Rates(3, 3, 3, 15)
    assert (found.prices.write_over_read, found.prices.caches) == (1, False)
