"""Shadow mode: everything is decided and reported, and the original is sent; a share of the sessions is switched on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from forked import Python
from hypothesis import given
from hypothesis import strategies as st
from offload_runs import files, lines, offloading, quietly, searching
from shadow_runs import live, run, shadow

import elision
from elision import AppliedEdit, Chain, ElisionError, SentView, hookimpl, open_archive
from elision.registry import plugins
from elision.testing import (
    DIALECT_OF,
    SHAPES,
    ModelServer,
    Shape,
    call,
    chains,
    conversation,
    histories,
    poisoned,
    result,
)


def same_objects(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def decided(view: SentView) -> dict[str, Any]:
    """Return the report without what says that it is a shadow's."""
    return {key: value for key, value in view.as_dict().items() if key != "live"}


def test_shadow_mode_everything_decided_and_reported_the_original_sent_a_share_of_sessions_can_be_switched_on() -> None:
    messages, seen = run(), json.dumps(run())
    found, wanted = shadow().process(messages), live().process(run())

    assert not found.live
    assert wanted.live
    assert same_objects(found.messages, messages)
    assert json.dumps(found.messages) == seen
    assert decided(found) == decided(wanted)
    assert found.edits
    assert found.tokens.after < found.tokens.before
    assert found.cache.as_dict() == wanted.cache.as_dict()
    assert found.shadow is not None
    assert found.shadow.messages == wanted.messages == found.decided

    tenth = shadow(share=0.1)
    switched_on = [name for name in map(str, range(300)) if tenth.session(name).process(run(1)).live]
    assert 15 < len(switched_on) < 45


@given(st.data(), st.sampled_from(SHAPES))
def test_of_any_history_and_chain_the_original_is_sent_and_a_shadow_decides_as_a_live_session(
    data: st.DataObject, shape: Shape
) -> None:
    messages = data.draw(histories(shape) | poisoned(shape))
    made = data.draw(chains())
    dialect = DIALECT_OF[shape]
    found = quietly(_kept_apart(replace(made, mode="shadow")), messages, dialect=dialect)
    wanted = quietly(_kept_apart(made), messages, dialect=dialect)

    assert same_objects(found.messages, messages)
    assert found.params == {}
    assert found.decided == wanted.messages
    assert found.edits == wanted.edits


def _kept_apart(chain: Chain) -> Chain:
    return replace(chain, archive=open_archive("memory:", environ={}))


def test_a_session_step_by_step_is_the_shadow_that_a_single_call_is() -> None:
    messages, chain = run(), shadow()
    with chain.session() as session:
        for stop in range(1, len(messages) + 1, 2):
            stepwise = session.process(messages[:stop])
            at_once = shadow().process(messages[:stop])

            assert same_objects(stepwise.messages, messages[:stop])
            assert stepwise.decided == at_once.decided


def test_marks_parameters_and_tools_of_the_host_stay_as_they_are() -> None:
    text = """\
history_processors: [{type: native, trigger_tokens: 1000}, {type: cache_control}]
classification: none
"""
    request = {
        "model": "claude-sonnet-4-5",
        "system": "Be brief.",
        "messages": run(),
        "tools": [{"name": "read_file", "input_schema": {"type": "object"}}],
    }
    request["messages"][0] = {
        "role": "user",
        "content": [{"type": "text", "text": "Read.", "cache_control": {"type": "ephemeral"}}],
    }
    before = json.dumps(request)
    chain = shadow(text)
    with chain.session() as session:
        quietly(session, {**request, "tools": [{"name": "bash", "input_schema": {}}, *request["tools"]]})
        view = quietly(session, request)

    assert view.params == {}
    assert view.tools is request["tools"]
    assert json.dumps({**request, "messages": view.messages}) == before
    assert view.shadow is not None
    assert "context_management" in view.shadow.params
    assert view.shadow.messages != view.messages


def test_a_poisoned_history_is_sent_as_it_is_and_what_would_be_mended_is_reported() -> None:
    messages = conversation("openai").user("Go.").step(call("ls"), call("pwd"), None, result("/")).user("Well?")
    given_ = messages.messages()
    view = shadow().process(given_)

    assert same_objects(view.messages, given_)
    assert view.repairs


def test_no_file_is_written_for_the_agent_until_a_session_is_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    messages = searching(lines(3000)).messages()
    chain = offloading(archive=str(tmp_path / "archive"))
    view = quietly(replace(chain, mode="shadow"), messages)

    assert files() == []
    assert "offloaded to" in view.decided[2]["content"]
    assert same_objects(view.messages, messages)
    (edit,) = view.edits
    assert chain.opened_archive.get(edit.ref).content == lines(3000)

    sent = quietly(chain, messages)
    assert sent.messages == view.decided
    assert len(files()) == 1


class Listener:
    def __init__(self) -> None:
        self.heard: list[AppliedEdit] = []

    @hookimpl
    def elision_edit_applied(self, edit: AppliedEdit) -> None:
        self.heard.append(edit)


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    plugins().manager.register(found)
    yield found
    plugins().manager.unregister(found)


def test_no_plugin_is_told_that_an_edit_was_applied(listener: Listener) -> None:
    shadow().process(run())
    unheard = list(listener.heard)
    live().process(run())

    assert unheard == []
    assert listener.heard


def test_a_request_that_cannot_be_made_to_fit_is_sent_as_it_is_and_the_report_says_so() -> None:
    text = "history_processors: [{type: budget, max_tokens: 1000}]\n"
    messages = conversation().system(lines(2000)).user("Go.").messages()
    with pytest.raises(ElisionError) as error:
        live(text).process(messages)
    with pytest.warns(elision.ElisionWarning, match="the original is sent"):
        view = shadow(text).process(messages)

    assert same_objects(view.messages, messages)
    assert [failure.error for failure in view.failures] == [str(error.value)]


PROGRAM = """\
import json, sys, warnings
import elision
from dataclasses import replace
warnings.simplefilter("ignore")
mode, stop = sys.argv[1:]
chain = replace(elision.load("chain.yaml"), mode=mode)
messages = json.load(open("run.json"))[: int(stop)]
with chain.session("run-1") as session:
    view = session.process(messages, model="claude-sonnet-4-5")
print(json.dumps([view.live, view.messages, view.decided]))
"""


def test_a_session_that_goes_from_shadow_to_live_between_processes_sends_what_its_shadow_decided(
    tmp_path: Path, python: Python
) -> None:
    (tmp_path / "chain.yaml").write_text(
        "history_processors: [{type: clear_tool_results, keep: 2}, {type: offload, threshold_tokens: 200}]\n"
        "classification: none\n",
        encoding="utf-8",
    )
    messages = run(30)
    (tmp_path / "run.json").write_text(json.dumps(messages), encoding="utf-8")

    def process(mode: str, stop: int) -> Any:
        environ = {name: value for name, value in os.environ.items() if name != "ELISION_ARCHIVE"}
        done = python("-c", PROGRAM, mode, stop, cwd=tmp_path, env=environ, check=True)
        return json.loads(done.stdout)

    was_live, sent, in_shadow = process("shadow", 61)
    offloaded = (tmp_path / ".elision" / "offloaded").exists()
    now_live, now_sent, _ = process("live", 61)

    assert (was_live, now_live) == (False, True)
    assert sent == messages
    assert now_sent == in_shadow != messages
    assert not offloaded
    assert (tmp_path / ".elision" / "offloaded").exists()


def test_through_the_transport_the_original_is_sent_and_one_that_is_too_long_is_not_reduced() -> None:
    messages = run(8, "openai")
    short, long = messages[:-8], [*messages, {"role": "user", "content": lines(4000)}]
    chain = shadow("history_processors: [{type: last_n_observations, n: 1}, {type: budget}]\nclassification: none\n")
    with ModelServer(profile={"window": {"input_tokens": 12000}}) as server, chain.session() as session:
        said = {"session": session, "api_base": server.base_url("openai"), "api_key": "none", "max_retries": 0}
        elision.completion("openai/gpt-4.1", short, **said)
        with pytest.raises(Exception, match="maximum context length"):
            elision.completion("openai/gpt-4.1", long, **said)

    sent = [[message.get("content") for message in request["messages"]] for request in server.requests]
    assert sent == [[message.get("content") for message in messages] for messages in (short, long)]
    assert session.calibrations == {}
