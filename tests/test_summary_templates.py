"""Templates of summaries and what goes with them: by name, of plugins, and what each mistake is told."""

from __future__ import annotations

from typing import Any

import pluggy
import pytest
from summary_runs import begun, chain, last, loaded, reads, texts

import elision
from elision import registry
from elision.registry import Plugins

EACH = "trigger_steps: 8, keep_last_steps: 2"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{ frist }}", "there is no variable 'frist'; did you mean 'first'?"),
        ("{{ first | uper }}", "there is no filter 'uper'; did you mean 'upper'?"),
        ("{{ goal }}", "it gives no text for some runs; say something in every case"),
        ("{{ files.a }}", "'a' is not there for every result"),
        ("{{ first", "it cannot be read"),
        ("{{ 'x' * 10 ** 9 }}", "is not allowed in a summary"),
        ("{% for a in digests %}{% for b in digests %}{% endfor %}{% endfor %}{{ first }}", "a 'for' inside a 'for'"),
        ("{% for a in range(99) %}{% endfor %}{{ first }}", "a call like f\\(\\) is not allowed in a summary"),
        ("{{ first.__class__ }}", "'__class__' is not there"),
        ("{{ 'x' }}" * 4000, "at most 20,000 are allowed"),
    ],
)
@pytest.mark.parametrize("option", ["template", "prompt"])
def test_a_mistake_in_a_template_is_one_line_at_its_place(option: str, template: str, told: str) -> None:
    if option == "prompt":
        template, told = template.replace("digests", "transcript"), told.replace("digests", "transcript")
        if "goal" in template or "files" in template:
            return
    text = f'history_processors:\n  - type: summarize\n    {option}: "{template}"\n'
    with pytest.raises(elision.ConfigError, match=told) as caught:
        elision.loads(text, archive="memory:")
    (problem,) = caught.value.problems

    assert (problem.line, "\n" in str(problem)) == (3, False)


def test_a_template_is_tried_with_nothing_of_what_it_can_use_too() -> None:
    made = loaded("[{type: save_reminder, template: 'Save it{{ what }}.'}]")

    assert made.processors
    with pytest.raises(elision.ConfigError, match="there is no variable 'waht'"):
        loaded("[{type: save_reminder, template: '{{ waht }}'}]")


class Own:
    """A plugin with templates of its own."""

    def __init__(self, **templates: Any) -> None:
        self.templates = templates

    @elision.hookimpl
    def elision_summary_templates(self) -> Any:
        return self.templates


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have plugins offer templates for the time of a test."""

    def offer(*plugins: Own) -> None:
        manager: pluggy.PluginManager = pluggy.PluginManager("elision")
        manager.add_hookspecs(elision.hookspecs)
        manager.register(registry.plugins().manager.get_plugin("builtin"), name="builtin")
        for number, plugin in enumerate(plugins):
            manager.register(plugin, name=f"own-{number}")
        made = Plugins(manager)
        monkeypatch.setattr(registry, "plugins", lambda: made)

    return offer


def test_a_plugin_offers_templates_of_summaries_and_prompts_by_name(offered: Any) -> None:
    offered(Own(terse="In short: {{ first }} to {{ last }}.", question="Briefly: {{ transcript | join(' ') }}"))
    view = last(chain(f"{EACH}, template: terse, prompt: question"), reads(begun(), 1, 9))

    assert any(text.startswith("In short: 2 to 6.") for text in texts(view))


def test_a_template_of_a_plugin_that_cannot_be_used_is_named(offered: Any) -> None:
    offered(Own(broken="{{ nothing }}"))

    with pytest.raises(elision.ConfigError, match="template 'broken': there is no variable 'nothing'"):
        chain(f"{EACH}, template: broken")


@pytest.mark.parametrize(
    ("plugins", "told"),
    [
        ([Own(summary="x {{ first }}")], "'builtin' and 'own-0': both offer 'summary'"),
        ([Own(a="x"), Own(a="y")], "'own-0' and 'own-1': both offer 'a'"),
        ([Own(a=3)], "own-0"),
    ],
)
def test_names_are_unique_and_sources_are_texts(offered: Any, plugins: list[Own], told: str) -> None:
    offered(*plugins)

    with pytest.raises(elision.ElisionError, match=told):
        chain(f"{EACH}, template: a")
