"""Plugins are found, checked and named; what is wrong with one is said in one clear error."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

import elision
from elision.registry import load_plugins, plugins

BUILTIN = EntryPoint("builtin", "elision.plugins.builtin", "elision")

PROCESSOR = """
from typing import ClassVar, Literal
from elision import Processor, hookimpl

class Shout(Processor):
    type: Literal["{name}"] = "{name}"

    operation: ClassVar = "convert"

    def plan(self, view):
        for observation in view.older_observations(keep_last=0):
            yield observation.replace(observation.text.upper())

@hookimpl
def elision_processors():
    return [Shout]
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], EntryPoint]]:
    """Write the module of a plugin; the answer is its entry point, whose name is not the module's."""
    monkeypatch.syspath_prepend(tmp_path)
    written: list[str] = []

    def write(name: str, source: str) -> EntryPoint:
        module = f"module_of_{name}"
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        written.append(module)
        return EntryPoint(name, module, "elision")

    yield write
    for module in written:
        sys.modules.pop(module, None)


def test_the_built_ins_register_through_the_entry_point_group_of_strangers() -> None:
    (own,) = [point for point in entry_points(group="elision") if point.name == "builtin"]

    assert own.value == BUILTIN.value
    assert "last_n_observations" in load_plugins([own], {}).processors()
    assert load_plugins([], {}).processors() == {}


def test_custom_processor_plugin_is_found_after_pip_install(tmp_path: Path) -> None:
    metadata = tmp_path / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[elision]\nacme = acme_shout\n", encoding="utf-8")
    (tmp_path / "acme_shout.py").write_text(PROCESSOR.format(name="shout"), encoding="utf-8")
    code = """
import elision
call = {"id": "a", "type": "function", "function": {"name": "run", "arguments": "{}"}}
answer = {"role": "tool", "tool_call_id": "a", "content": "x"}
step = [{"role": "assistant", "content": "", "tool_calls": [call]}, answer]
chain = elision.loads("history_processors:\\n  - type: shout\\n")
print(chain.process([{"role": "user", "content": "go"}, *step, *step]).messages[2]["content"])
"""
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)

    assert (done.stdout, done.returncode) == ("X\n", 0), done.stderr


def test_two_plugins_with_one_type_are_an_error_that_names_both(plugin: Callable[[str, str], EntryPoint]) -> None:
    first, second = (plugin(name, PROCESSOR.format(name="shout")) for name in ("acme", "bold"))

    with pytest.raises(elision.PluginError, match=r"'acme' and 'bold': both offer 'shout' through elision_processors"):
        load_plugins([first, second], {}).processors()


def test_a_plugin_cannot_take_the_name_of_a_built_in_processor(plugin: Callable[[str, str], EntryPoint]) -> None:
    acme = plugin("acme", PROCESSOR.format(name="cache_control"))

    with pytest.raises(elision.PluginError, match=r"'builtin' and 'acme': both offer 'cache_control'"):
        load_plugins([acme, BUILTIN], {}).processors()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_named_with_the_reason(
    plugin: Callable[[str, str], EntryPoint], source: str, told: str
) -> None:
    acme = plugin("acme", source)

    with pytest.raises(elision.PluginError) as caught:
        load_plugins([BUILTIN, acme], {})

    assert str(caught.value).startswith("plugin 'acme' (module_of_acme): cannot be loaded")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_misspelt_hook_fails_at_the_start_with_the_name_of_the_plugin(
    plugin: Callable[[str, str], EntryPoint],
) -> None:
    acme = plugin("acme", PROCESSOR.format(name="shout").replace("elision_processors", "elision_procesors"))

    with pytest.raises(elision.PluginError, match=r"plugin 'acme'.*'elision_procesors'.*'elision_processors'"):
        load_plugins([acme], {})


def test_a_hook_with_an_unknown_argument_fails_at_the_start_with_the_name_of_the_plugin(
    plugin: Callable[[str, str], EntryPoint],
) -> None:
    acme = plugin("acme", "from elision import hookimpl\n@hookimpl\ndef elision_edit_applied(edit, colour): ...\n")

    with pytest.raises(elision.PluginError, match=r"plugin 'acme'(.|\n)*colour"):
        load_plugins([acme], {})


@pytest.mark.parametrize(
    ("answer", "told"),
    [("[object]", "has no name"), ("[1]", "has no name"), ("1 / 0", "ZeroDivisionError: division by zero")],
)
def test_a_hook_that_gives_something_else_is_named(
    plugin: Callable[[str, str], EntryPoint], answer: str, told: str
) -> None:
    acme = plugin("acme", f"from elision import hookimpl\n@hookimpl\ndef elision_processors(): return {answer}\n")

    with pytest.raises(elision.PluginError, match=rf"plugin 'acme': elision_processors.*{told}"):
        load_plugins([BUILTIN, acme], {}).processors()


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, ["bold", "shout"]),
        ({"ELISION_PLUGINS": ""}, []),
        ({"ELISION_PLUGINS": "acme"}, ["shout"]),
        ({"ELISION_PLUGINS": " acme , bold"}, ["bold", "shout"]),
    ],
)
def test_third_parties_are_chosen_by_name_and_the_built_ins_stay(
    plugin: Callable[[str, str], EntryPoint], environ: dict[str, str], found: list[str]
) -> None:
    points = [
        plugin("acme", PROCESSOR.format(name="shout")),
        plugin("bold", PROCESSOR.format(name="bold")),
        BUILTIN,
    ]
    offered = load_plugins(points, environ).processors()

    assert sorted(name for name, cls in offered.items() if not cls.__module__.startswith("elision.")) == found
    assert "default" in offered


def test_a_third_party_that_is_switched_off_is_not_even_imported(plugin: Callable[[str, str], EntryPoint]) -> None:
    load_plugins([plugin("acme", "1 / 0"), BUILTIN], {"ELISION_PLUGINS": ""})

    assert "module_of_acme" not in sys.modules


def test_tracing_prints_each_hook_call_its_plugins_and_its_result_to_stderr(
    plugin: Callable[[str, str], EntryPoint], capsys: pytest.CaptureFixture[str]
) -> None:
    acme = plugin("acme", PROCESSOR.format(name="shout"))
    load_plugins([acme], {"ELISION_TRACE_HOOKS": "1"}).processors()
    out, err = capsys.readouterr()

    assert out == ""
    assert "elision hook elision_processors() -> acme\n" in err
    assert "elision hook elision_processors = [[<class 'module_of_acme.Shout'>]]\n" in err


def test_without_tracing_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    load_plugins([BUILTIN], {"ELISION_TRACE_HOOKS": "0"}).processors()

    assert capsys.readouterr() == ("", "")


class Listener:
    """Writes down what the two listening hooks are told; ``fails`` makes it raise after that."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.applied: list[Any] = []
        self.refs: list[str] = []
        self.refused: list[Any] = []

    @elision.hookimpl
    def elision_edit_applied(self, edit: elision.AppliedEdit, ref: str) -> None:
        self.applied.append(edit)
        self.refs.append(ref)
        self._fail()

    @elision.hookimpl
    def elision_edit_refused(self, refusal: elision.Refusal, rule: Any) -> None:
        self.refused.append((refusal, rule.name))
        self._fail()

    def _fail(self) -> None:
        if self.fails:
            raise RuntimeError("the listener is broken")


@pytest.fixture
def listen() -> Iterator[Callable[[Listener], Listener]]:
    """Register a listener with the plugins of this process, until the test is over."""
    heard: list[Listener] = []

    def register(listener: Listener) -> Listener:
        plugins().manager.register(listener)
        heard.append(listener)
        return listener

    yield register
    for listener in heard:
        plugins().manager.unregister(listener)


class HideAll(elision.Processor):
    """Proposes to elide every observation, the newest included, at every step."""

    stage: ClassVar[elision.Stage] = "history"
    operation: ClassVar[elision.Operation] = "clear"

    type: Literal["hide_all"] = "hide_all"

    def plan(self, view: elision.View) -> Iterator[elision.Edit]:
        for observation in view.observations:
            yield observation.replace("-")


def history(steps: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for step in range(steps):
        call = {"id": f"call_{step}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": f"output {step}"})
    return messages


def grow(chain: elision.Chain, steps: int) -> elision.SentView:
    """Run a session as an agent does: one request for each step."""
    messages = history(steps)
    with chain.session() as session:
        views = [session.process(messages[: 1 + 2 * done]) for done in range(1, steps + 1)]
    return views[-1]


def test_listeners_are_told_of_each_edit_once(listen: Callable[[Listener], Listener]) -> None:
    listener = listen(Listener())
    view = grow(elision.Chain([HideAll()], classification=None), steps=5)

    assert [edit.call_id for edit in listener.applied] == ["call_0", "call_1", "call_2", "call_3"]
    assert listener.applied == list(view.edits)


def test_listeners_are_told_the_ref_by_which_the_original_is_recalled(
    listen: Callable[[Listener], Listener],
) -> None:
    listener = listen(Listener())
    chain = elision.Chain([HideAll()], classification=None)
    grow(chain, steps=3)

    assert [chain.opened_archive.get(ref).content for ref in listener.refs] == ["output 0", "output 1"]


def test_listeners_are_told_of_each_refusal_once_with_the_rule(listen: Callable[[Listener], Listener]) -> None:
    listener = listen(Listener())
    view = grow(elision.Chain([HideAll()], classification=None), steps=5)

    assert [refusal.call_id for refusal, _ in listener.refused] == [f"call_{step}" for step in range(5)]
    assert {rule for _, rule in listener.refused} == {"newest_step_stays"}
    assert [refusal for refusal, _ in listener.refused[-1:]] == list(view.refusals)


def test_a_listener_that_raises_is_reported_and_changes_nothing_that_is_sent(
    listen: Callable[[Listener], Listener],
) -> None:
    chain = elision.Chain([HideAll()], classification=None)
    expected = grow(chain, steps=3)
    listen(Listener(fails=True))
    with pytest.warns(elision.ElisionWarning):
        view = grow(chain, steps=3)

    assert view.messages == expected.messages
    assert view.edits == expected.edits
    assert {failure.processor for failure in view.failures} == {"elision_edit_applied", "elision_edit_refused"}


def test_a_listener_that_raises_does_not_keep_the_others_from_being_told(
    listen: Callable[[Listener], Listener],
) -> None:
    early, broken, late = (listen(Listener(fails=fails)) for fails in (False, True, False))
    with pytest.warns(elision.ElisionWarning):
        grow(elision.Chain([HideAll()], classification=None), steps=3)

    assert early.applied == broken.applied == late.applied
    assert len(late.applied) == 2
