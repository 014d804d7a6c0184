"""The traps of litellm's price map, one by one, on maps that are made here."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elision import ConfigError
from elision.profiles import Profile, Rates, Tier, profile_for
from elision.profiles.price_map import bundled, entries

Priced = Callable[..., Profile]
PAID = {"input_cost_per_token": 3e-6, "output_cost_per_token": 15e-6}
READ = "cache_read_input_token_cost"
WRITE = "cache_creation_input_token_cost"


def of_map(found: Profile) -> list[str]:
    return [line for line in found.assumed if "price map" in line and not line.startswith("window:")]


def test_prices_are_in_dollars_for_a_million_tokens(priced: Priced) -> None:
    found = priced({**PAID, READ: 3e-7, WRITE: 3.75e-6, f"{WRITE}_above_1hr": 6e-6})

    assert found.prices.base == Rates(3, 0.3, 3.75, 15, 6)
    assert (found.prices.write_over_read, found.prices.read_over_input) == (12.5, pytest.approx(0.1))
    assert found.prices.output_over_input == 5
    assert of_map(found) == []


def test_a_cache_write_of_nothing_is_no_free_write(priced: Priced) -> None:
    found = priced({**PAID, READ: 3e-7, WRITE: 0.0})

    assert (found.prices.base.cache_write, found.prices.write_over_read) == (3, 10)
    assert of_map(found) == ["cache_write is 0 in the price map, which is no free write: taken as the price of a miss"]


def test_a_missing_cache_write_costs_what_the_input_does(priced: Priced) -> None:
    found = priced({**PAID, READ: 3e-7})

    assert found.prices.base.cache_write == 3
    assert of_map(found) == []


def test_a_missing_cache_write_costs_what_the_profile_says_where_it_says_so(priced: Priced) -> None:
    assert priced({**PAID, READ: 3e-7}, "claude-opus-4-9").prices.base.cache_write == 3.75


def test_a_missing_cache_read_means_that_no_cache_is_known(priced: Priced) -> None:
    found = priced(PAID)

    assert (found.prices.base.cache_read, found.prices.caches, found.prices.write_over_read) == (3, False, 1)
    assert of_map(found) == ["cache_read is not in the price map: no cache is counted on, a read costs what input does"]


def test_a_read_price_in_the_place_of_the_write_price_is_put_back(priced: Priced) -> None:
    found = priced({**PAID, WRITE: 1.5e-6})

    assert found.prices.base == Rates(3, 1.5, 3, 15)
    assert of_map(found) == ["cache_write is below input in the price map, cache_read is not: taken as one another's"]


def test_read_and_write_in_one_anothers_place_are_swapped(priced: Priced) -> None:
    assert priced({**PAID, READ: 3.75e-6, WRITE: 3e-7}).prices.base == Rates(3, 0.3, 3.75, 15)


def test_a_write_below_the_input_is_not_believed(priced: Priced) -> None:
    found = priced({**PAID, READ: 1.5e-6, WRITE: 1.51e-6})

    assert found.prices.base == Rates(3, 1.5, 3, 15)
    assert of_map(found) == ["cache_write is below input in the price map: taken as input"]


def test_a_read_above_the_input_is_not_believed(priced: Priced) -> None:
    found = priced({**PAID, READ: 4e-6, WRITE: 4e-6})

    assert found.prices.base.cache_read == 3
    assert of_map(found) == ["cache_read is above input in the price map: taken as input"]


def test_a_free_read_makes_the_ratio_infinite(priced: Priced) -> None:
    assert priced({**PAID, READ: 0}).prices.write_over_read == math.inf


def test_prices_rise_above_a_number_of_tokens(priced: Priced) -> None:
    above = {
        "input_cost_per_token_above_200k_tokens": 6e-6,
        "output_cost_per_token_above_200k_tokens": 22.5e-6,
        f"{READ}_above_200k_tokens": 6e-7,
        f"{WRITE}_above_200k_tokens": 7.5e-6,
        f"{WRITE}_above_1hr_above_200k_tokens": 12e-6,
        "input_cost_per_token_above_200k_tokens_priority": 99e-6,
        "input_cost_per_token_batches": 1e-6,
    }
    prices = priced({**PAID, READ: 3e-7, WRITE: 3.75e-6, f"{WRITE}_above_1hr": 6e-6, **above}).prices

    assert prices.tiers == (Tier(200_000, Rates(6, 0.6, 7.5, 22.5, 12)),)
    assert (prices.at(200_000).input, prices.at(200_001).input) == (3, 6)


def test_what_a_tier_does_not_say_rises_as_its_input_does(priced: Priced) -> None:
    tiers = {"input_cost_per_token_above_272k_tokens": 6e-6, f"{WRITE}_above_272k_tokens": 2.5e-7}

    assert priced({**PAID, READ: 3e-7, **tiers}).prices.tiers == (Tier(272_000, Rates(6, 0.6, 6, 30)),)


def test_a_tier_without_a_price_of_input_is_none(priced: Priced) -> None:
    assert priced({**PAID, "output_cost_per_token_above_200k_tokens": 9e-6}).prices.tiers == ()


def test_tiered_pricing_takes_the_place_of_prices_that_are_not_at_the_top(priced: Priced) -> None:
    ranges = [
        {"range": [32000.0, 128000.0], "input_cost_per_token": 1.8e-6, READ: 1.8e-7, "output_cost_per_token": 9e-6},
        {"range": [0, 32000.0], "input_cost_per_token": 1e-6, READ: 1e-7, "output_cost_per_token": 5e-6},
    ]
    prices = priced({"input_cost_per_token": None, "tiered_pricing": ranges}).prices

    assert prices.base == Rates(1, 0.1, 1, 5)
    assert prices.tiers == (Tier(32_000, Rates(1.8, 0.18, 1.8, 9)),)
    assert prices.known


@pytest.mark.parametrize(
    "ranges", [5, [], [7], [{}], [{"range": []}], [{"range": ["a"]}], [{"range": [0]}], {"range": 1}]
)
def test_tiered_pricing_that_makes_no_sense_is_left_out(priced: Priced, ranges: Any) -> None:
    assert priced({**PAID, "tiered_pricing": ranges}).prices.tiers == ()
    assert not priced({"tiered_pricing": ranges}).prices.known


def test_prices_by_the_character_say_nothing_of_tokens(priced: Priced) -> None:
    found = priced({"input_cost_per_character": 5e-6, "output_cost_per_character": 5e-6})

    assert not found.prices.known
    assert of_map(found) == ["the price map has prices by the character only, which say nothing of tokens"]


def test_a_price_of_nothing_is_no_price(priced: Priced) -> None:
    found = priced({"input_cost_per_token": 0, "output_cost_per_token": 0, READ: 0, "max_input_tokens": 9000})

    assert (found.prices.known, found.prices.write_over_read, found.window.input_tokens) == (False, 10, 9000)
    assert of_map(found) == ["the price map has a price of 0: a free model, or one whose price is not known"]


def test_prices_of_peak_hours_are_taken_and_said(priced: Priced) -> None:
    found = priced({**PAID, READ: 3e-7, "off_peak_pricing": {"input_cost_per_token": 1e-6}})

    assert found.prices.base.input == 3
    assert "prices are those of peak hours; off-peak ones are lower" in found.assumed


def test_the_least_size_of_a_cached_prefix_is_that_of_the_map(priced: Priced) -> None:
    assert priced({**PAID, "prompt_cache_min_tokens": 512.0}, "claude-opus-6").cache.min_tokens == 512


@pytest.mark.parametrize("value", ["3e-06", True, -1e-6, float("nan"), float("inf"), None, [3], {"a": 1}, 10**400])
def test_a_price_that_is_no_number_is_none(priced: Priced, value: Any) -> None:
    found = priced({"input_cost_per_token": value, "max_input_tokens": value, "prompt_cache_min_tokens": value})

    assert not found.prices.known
    assert found.window.input_tokens == 128_000


@pytest.mark.parametrize("mode", ["image_generation", "embedding", ["chat"]])
def test_an_entry_that_is_no_language_model_is_not_taken(priced: Priced, mode: Any) -> None:
    assert "the price map does not have 'acme-1'" in priced({**PAID, "mode": mode}).assumed


def test_the_example_in_the_map_is_no_model(priced: Priced) -> None:
    assert "the price map does not have 'sample_spec'" in priced(PAID, "sample_spec", key="other").assumed


KEYS = {
    "claude-sonnet-5": ["claude-sonnet-5", "Claude-Sonnet-5", "anthropic/claude-sonnet-5"],
    "anthropic/claude-sonnet-5": ["claude-sonnet-5", "anthropic/claude-sonnet-5"],
    "claude-opus-4.5": ["claude-opus-4-5"],
    "kimi-k3": ["moonshot/kimi-k3"],
    "bedrock/us.anthropic.claude-opus-5-v1:0": ["us.anthropic.claude-opus-5-v1:0"],
    "ft:gpt-4o-2024-11-20:acme::7": ["ft:gpt-4o-2024-11-20"],
}


@pytest.mark.parametrize(("model", "key"), [(model, key) for model, keys in KEYS.items() for key in keys])
def test_an_entry_is_found_under_the_keys_that_mean_the_same(priced: Priced, model: str, key: str) -> None:
    found = priced({**PAID, READ: 3e-7, "litellm_provider": model.partition("/")[0]}, model, key=key)

    assert found.prices.known
    assert of_map(found) == []


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("openrouter/anthropic/claude-sonnet-5", "claude-sonnet-5"),
        ("claude-sonnet-5-20260801", "claude-sonnet-5"),
        ("together_ai/moonshotai/Kimi-K3", "moonshot/kimi-k3"),
    ],
)
def test_an_entry_of_another_provider_or_date_is_taken_and_said(priced: Priced, model: str, key: str) -> None:
    found = priced({**PAID, READ: 3e-7, "litellm_provider": "other"}, model, key=key)

    assert of_map(found) == [f"the price map has no {model.lower()!r}: prices and window are those of {key!r}"]


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "[" * 100_000, "\udcff"])
def test_a_map_that_cannot_be_read_is_one_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "map.json"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")

    with pytest.raises(ConfigError) as caught:
        profile_for("gpt-4o", price_map=path)
    assert str(caught.value).startswith(f"{path}: the price map ")
    assert "\n" not in str(caught.value)


def test_a_map_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the price map cannot be read"):
        profile_for("gpt-4o", price_map=tmp_path / "nowhere.json")


def test_no_entry_of_the_installed_map_gives_a_price_that_cannot_be() -> None:
    path = bundled()
    assert path is not None
    prices = {key: profile_for(key).prices for key in entries(path)}
    rates = [(key, each) for key, found in prices.items() for each in (found.base, *(t.rates for t in found.tiers))]

    assert [key for key, each in rates if not 0 <= each.cache_read <= each.input <= each.cache_write] == []
    assert len(prices) > 1000


PROBE = """
import json, sys
import elision.profiles
early = sorted(name for name in HEAVY if name in sys.modules)
elision.profiles.profile_for("claude-sonnet-4-5")
print(json.dumps([early, sorted(name for name in ("litellm", "tiktoken") if name in sys.modules)]))
"""


def test_the_map_is_read_without_importing_litellm_and_nothing_heavy_is_imported_early() -> None:
    code = PROBE.replace("HEAVY", repr(("litellm", "tiktoken", "pydantic", "yaml", "jinja2", "rich")))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == [[], []]


def test_without_litellm_the_default_stands_in_and_says_so() -> None:
    code = (
        "import sys, importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'litellm' else real(name, *more)\n"
        "from elision.profiles import profile_for\n"
        "print([line for line in profile_for('gpt-4o').assumed if 'litellm' in line])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == '["litellm\'s price map is not installed"]'
