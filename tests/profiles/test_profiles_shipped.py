"""The profiles that ship have no problem, name their sources, and each is found by the models of its family."""

from __future__ import annotations

import pytest

from elision.profiles import Profile, lint_profile, load_profile, profile_for
from elision.registry import plugins

SHIPPED = sorted(plugins().profiles())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_profile_that_ships_has_no_problem(name: str) -> None:
    assert lint_profile(name) == []
    assert load_profile(name)[-1].description


@pytest.mark.parametrize("name", SHIPPED)
def test_every_section_of_a_profile_that_ships_says_where_it_is_from(name: str) -> None:
    found = load_profile(name)[-1]
    every = [("", found.sections), *((variant.label, variant.sections) for variant in found.variants)]

    assert [(at, part) for at, sections in every for part, given in sections.items() if not given.get("source")] == []


MODELS = {
    "claude-opus-4-5-20251101": ("anthropic", "newest_step", "explicit"),
    "claude-sonnet-4-20250514": ("anthropic", "newest_step", "explicit"),
    "claude-haiku-4.5": ("anthropic", "newest_step", "explicit"),
    "claude-3-5-sonnet-20241022": ("anthropic", "none", "explicit"),
    "claude-3-7-sonnet-20250219": ("anthropic", "newest_step", "explicit"),
    "claude-opus-5": ("anthropic", "newest_step", "explicit"),
    "claude-sonnet-5@20260801": ("anthropic", "newest_step", "explicit"),
    "claude-fable-5": ("anthropic", "newest_step", "explicit"),
    "claude-opus-5-5": ("anthropic", "bound_to_prefix", "explicit"),
    "claude-fable-5-1": ("anthropic", "bound_to_prefix", "explicit"),
    "claude-haiku-5-5": ("anthropic", "bound_to_prefix", "explicit"),
    "claude-fx-1": ("anthropic", "bound_to_prefix", "explicit"),
    "litellm_proxy/claude-sonnet-4-20250514": ("anthropic", "newest_step", "explicit"),
    "openrouter/anthropic/claude-opus-5.5": ("anthropic", "bound_to_prefix", "explicit"),
    "vertex_ai/claude-sonnet-4-5@20250929": ("anthropic", "newest_step", "explicit"),
    "bedrock/us.anthropic.claude-opus-5-5": ("bedrock", "bound_to_prefix", "explicit"),
    "anthropic.claude-3-5-sonnet-20241022-v2:0": ("bedrock", "none", "explicit"),
    "gpt-5.6-sol": ("openai", "tool_turns", "both"),
    "gpt-6.1-terra": ("openai", "tool_turns", "both"),
    "gpt-5.2-codex": ("openai", "tool_turns", "automatic"),
    "openai/responses/gpt-5": ("openai", "tool_turns", "automatic"),
    "azure/gpt-4o-mini-2024-07-18": ("openai", "none", "automatic"),
    "gpt-4.1": ("openai", "none", "automatic"),
    "ft:gpt-4o-2024-11-20:acme::7": ("openai", "none", "automatic"),
    "o1-preview": ("openai", "tool_turns", "automatic"),
    "deepseek-v4-flash": ("deepseek", "tool_turns", "automatic"),
    "us.deepseek.v3.2": ("deepseek", "tool_turns", "automatic"),
    "google/gemini-3-pro-preview": ("gemini", "tool_turns", "automatic"),
    "gemini-2.5-pro": ("gemini", "none", "automatic"),
    "qwen3-coder-plus": ("qwen", "tool_turns", "explicit"),
    "dashscope/qwen3-32b": ("qwen", "tool_turns", "explicit"),
    "together_ai/Qwen/Qwen3-235B-A22B": ("qwen", "tool_turns", "automatic"),
    "moonshot-ai/kimi-k2.7-code": ("kimi", "tool_turns", "automatic"),
    "fireworks_ai/accounts/fireworks/models/kimi-k2p5": ("kimi", "tool_turns", "automatic"),
    "zai/glm-5.3": ("glm", "tool_turns", "automatic"),
    "zai-org/GLM-5.3": ("glm", "tool_turns", "automatic"),
    "litellm_proxy/minimax-m2.7": ("minimax", "tool_turns", "automatic"),
    "xai/grok-4.7": ("grok", "tool_turns", "automatic"),
    "fake-model": ("default", "tool_turns", "automatic"),
    "<synthetic>": ("default", "tool_turns", "automatic"),
}


@pytest.mark.parametrize(("model", "expected"), MODELS.items(), ids=list(MODELS))
def test_a_model_finds_the_profile_of_its_family(model: str, expected: tuple[str, str, str]) -> None:
    found = profile_for(model)

    assert (found.name, found.thinking.rule, found.cache.marks) == expected


def test_every_profile_that_ships_is_found_by_some_model() -> None:
    assert {name for name, _, _ in MODELS.values()} == set(SHIPPED)


RATIOS = {
    "claude-sonnet-4-6": 12.5,
    "claude-sonnet-5-5": 25,
    "claude-fable-5-1": 50,
    "gpt-6.1-sol": 25,
    "gpt-5.2": 10,
    "gpt-4.1": 4,
    "gpt-4o": 2,
    "deepseek-v4-flash": 50,
    "deepseek/deepseek-v4-pro": 30,
    "moonshot/kimi-k3.1-pro": 10,
    "xai/grok-4.7": 4,
}


@pytest.mark.parametrize(("model", "ratio"), RATIOS.items(), ids=list(RATIOS))
def test_the_price_of_a_write_over_a_read_is_that_of_the_installed_map(model: str, ratio: float) -> None:
    found = profile_for(model)

    assert found.prices.write_over_read == pytest.approx(ratio)
    assert found.prices.known
    assert found.prices.caches


def test_claude_takes_four_marks_that_look_back_twenty_blocks_and_last_five_minutes_or_an_hour() -> None:
    found = profile_for("claude-sonnet-4-5")

    assert (found.cache.breakpoints, found.cache.lookback_blocks, found.cache.min_tokens) == (4, 20, 1024)
    assert [(ttl.seconds, ttl.write_factor) for ttl in found.cache.ttl] == [(300, 1.25), (3600, 2)]
    assert (found.write_price(), found.write_price(300), found.write_price(3600)) == (3.75, 3.75, 6)
    assert (found.window.input_tokens, found.window.output_tokens) == (200_000, 64_000)
    assert found.assumed == ()


def test_a_cached_prefix_of_openai_is_of_128_tokens_before_5_6_and_ends_at_a_mark_from_then_on() -> None:
    before, after = profile_for("gpt-5.2"), profile_for("gpt-5.6")

    assert (before.cache.match, before.cache.unit_tokens, before.cache.breakpoints) == ("prefix", 128, 0)
    assert (after.cache.match, after.cache.unit_tokens, after.cache.breakpoints) == ("breakpoint", 1, 3)
    assert (after.cache.lookback_blocks, after.cache.lookback_breakpoints) == (None, 80)
    assert after.write_price(43_200) == 10


def test_a_deepseek_prefix_is_found_up_to_the_end_of_an_earlier_request() -> None:
    assert profile_for("deepseek-v4-pro").cache.match == "request"


def cost(model: str, width: int | None = None, height: int | None = None) -> int:
    return profile_for(model).images.cost(width, height)


def test_an_image_costs_what_the_provider_says() -> None:
    assert cost("claude-sonnet-4-5", 1000, 750) == 1000
    assert cost("claude-sonnet-4-5", 8000, 8000) == cost("claude-sonnet-4-5") == 1600
    assert (cost("gpt-4o", 1024, 1024), cost("gpt-4o", 2048, 4096), cost("gpt-4o", 128, 64)) == (765, 1105, 255)
    assert cost("gpt-4o-mini", 128, 64) == 8500
    assert (cost("gpt-5-mini", 256, 256), cost("gpt-5-mini", 2048, 768)) == (77, 1844)
    assert cost("gemini-3.1-pro-preview", 100, 100) == 1120
    assert (cost("gemini-2.5-pro", 384, 300), cost("gemini-2.5-pro", 960, 540)) == (258, 6 * 258)
    assert (cost("gemini-2.5-pro", 1024, 1024), cost("gemini-2.5-pro", 4000, 40)) == (4 * 258, 16 * 258)
    assert cost("fake-model", 0, -5) == cost("fake-model") == 765


def test_tokens_of_claude_are_more_than_those_of_o200k_base() -> None:
    factors = {model: profile_for(model).tokens.factor for model in ("gpt-5.2", "claude-opus-4-5", "claude-opus-4-8")}

    assert factors == {"gpt-5.2": 1, "claude-opus-4-5": 1.25, "claude-opus-4-8": 1.55}
    assert profile_for("gpt-4-0613").tokens.encoding == "cl100k_base"


def assumed_of(found: Profile) -> list[str]:
    return [line.partition(":")[0] for line in found.assumed]


def test_what_is_assumed_of_an_unknown_model_is_said_section_by_section() -> None:
    found = profile_for("frobnicator-9")

    assert found.assumed[:2] == (
        "no profile matches 'frobnicator-9': 'default' stands in",
        "the price map does not have 'frobnicator-9'",
    )
    assert assumed_of(found)[2:] == ["thinking", "order", "cache", "window", "images", "tokens", "prices"]
    assert (found.prices.known, found.prices.write_over_read) == (False, 10)
    assert all("\n" not in line for line in found.assumed)


def test_without_a_model_the_default_stands_in_and_says_so() -> None:
    found = profile_for(None)

    assert (found.name, found.model) == ("default", None)
    assert found.assumed[0] == "no model is named: 'default' stands in"


def test_a_model_that_only_the_price_map_knows_has_its_prices_and_window() -> None:
    found = profile_for("mistral/mistral-large-4")

    assert (found.name, found.prices.base.input, found.window.input_tokens) == ("default", 0.7, 1_048_576)
    assert not {"window", "prices"} & set(assumed_of(found))


def test_prices_of_another_provider_that_stand_in_are_said() -> None:
    found = profile_for("openrouter/anthropic/claude-opus-5.5")

    assert found.prices.base.input == 4
    assert found.assumed == (
        "the price map has no 'openrouter/anthropic/claude-opus-5.5': prices and window are those of 'claude-opus-5-5'",
    )


def test_each_value_has_its_source() -> None:
    sources = profile_for("claude-opus-4-5").sources

    assert sources["thinking.rule"].startswith("anthropic:")
    assert (
        sources["cache.breakpoints"]
        == "anthropic: platform.claude.com, prompt-caching, 2026-11; a read begins the time anew"
    )
    assert sources["prices.input"].startswith("price map: litellm ")
    assert sources["prices.input"].endswith(", claude-opus-4-5")


@pytest.mark.parametrize(
    "model", ["", "/", "ft:", "ft:::", "a" * 100_000, "claude" + "-" * 5000, "\ud800", "..", "bedrock/"]
)
def test_a_strange_name_has_a_profile(model: str) -> None:
    assert profile_for(model).name in {"default", "anthropic"}


def test_a_profile_cannot_be_changed() -> None:
    found = profile_for("gpt-4o")

    with pytest.raises(AttributeError):
        found.prices.base.input = 0  # type: ignore[misc]
    with pytest.raises(TypeError):
        found.sources["prices.input"] = "mine"  # type: ignore[index]
    assert profile_for("gpt-4o") is found
