"""A model is told by the name of its maker, whatever a reseller or a router calls it."""

from __future__ import annotations

import pytest

from elision.profiles import profile_for

BOUND = [
    "databricks/databricks-claude-opus-5-5",
    "databricks-claude-fable-5-1",
    "openrouter/anthropic/claude-opus-5.5:thinking",
    "sap/anthropic--claude-5.5-opus",
    "gradient_ai/anthropic-claude-opus-5.5",
    "databricks/system.ai.claude-sonnet-5-5",
    "vertex_ai/claude-fable-5-1@default",
]
NEWEST = [
    "openrouter/anthropic/claude-opus-5:thinking",
    "databricks/databricks-claude-opus-5",
    "heroku/claude-4-sonnet",
    "replicate/anthropic/claude-4.5-haiku",
    "anthropic-claude-5-sonnet",
]
MAKERS = {
    "azure_ai/FW-GLM-5.2": "glm",
    "mistral/zai-glm-5-3": "glm",
    "databricks/databricks-gpt-6-sol": "openai",
    "snowflake/openai-gpt-5": "openai",
    "databricks/databricks-gemini-3-pro": "gemini",
    "databricks/databricks-kimi-k3": "kimi",
    "gradient_ai/alibaba-qwen3-32b": "qwen",
    "azure_ai/FW-DeepSeek-V4-Pro": "deepseek",
}


@pytest.mark.parametrize("model", BOUND)
def test_thinking_of_claude_is_bound_whoever_sells_it(model: str) -> None:
    assert profile_for(model).thinking.rule == "bound_to_prefix"


@pytest.mark.parametrize("model", NEWEST)
def test_thinking_of_earlier_claudes_is_not_whoever_sells_them(model: str) -> None:
    assert profile_for(model).thinking.rule == "newest_step"


@pytest.mark.parametrize(("model", "profile"), MAKERS.items(), ids=MAKERS)
def test_a_resellers_prefix_is_no_part_of_the_name(model: str, profile: str) -> None:
    assert profile_for(model).name == profile


@pytest.mark.parametrize("model", ["databricks-claude-opus-5", "anthropic--claude-5-opus", "snowflake/openai-gpt-5"])
def test_context_editing_is_not_counted_on_at_a_reseller(model: str) -> None:
    found = profile_for(model).native

    assert (found.clear_tool_uses, found.clear_thinking, found.compact) == ((), (), ())


@pytest.mark.parametrize("model", ["acme/dolphin-qwen2-72b", "llama-claude-tune", "openai-like-thing"])
def test_a_name_that_only_holds_anothers_is_not_that_model(model: str) -> None:
    assert profile_for(model).name == "default"
