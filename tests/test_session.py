"""A session and a stateless call come to the same view; the host's objects are never changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import elision
from elision import Chain, InputError
from elision.registry import plugins
from elision.testing import call, conversation, result

RUN = json.loads((Path(__file__).parents[1] / "examples" / "sample_run.json").read_text(encoding="utf-8"))
MESSAGES: list[dict[str, Any]] = RUN["messages"]


def processor(name: str, **options: Any) -> Any:
    return plugins().processors()[name](**options)


CHAINS = {
    "last_n": Chain([processor("last_n_observations", n=5)]),
    "polling": Chain([processor("last_n_observations", n=5, polling=7), processor("cache_control")]),
    "tags": Chain(
        [
            processor("tag_tool_call_observations", function_names=["search"]),
            processor("tag_tool_call_observations", function_names=["run_tests"], tags=["remove_output"]),
            processor("last_n_observations", n=12),
        ]
    ),
    "regex": Chain([processor("remove_regex", remove=["e[a-z]+"], keep_last=3), processor("closed_window")]),
    "regex_at_entry": Chain([processor("remove_regex", remove=["the"]), processor("last_n_observations", n=3)]),
}


def requests(messages: list[Any]) -> list[int]:
    """Return the lengths of the history at which an agent would have sent a request."""
    return [i for i, m in enumerate(messages) if m["role"] == "assistant"] + [len(messages)]


@pytest.mark.parametrize("name", CHAINS)
def test_a_session_gives_the_same_view_as_a_stateless_call_at_every_step(name: str) -> None:
    chain = CHAINS[name]
    session = chain.session("run")

    for length in requests(MESSAGES)[::3]:
        assert session.process(MESSAGES[:length]).messages == chain.process(MESSAGES[:length]).messages


@pytest.mark.parametrize("name", CHAINS)
def test_the_history_is_never_changed_and_untouched_messages_are_the_very_same_objects(name: str) -> None:
    held = copy.deepcopy(MESSAGES)
    view = CHAINS[name].process(held)
    edited = {edit.position for edit in view.edits}

    assert held == MESSAGES
    assert all(sent is held[i] for i, sent in enumerate(view.messages) if i not in edited)


def test_a_chain_without_processors_sends_the_very_objects_that_came_in() -> None:
    view = Chain([]).process(MESSAGES)

    assert all(sent is held for sent, held in zip(view.messages, MESSAGES, strict=True))
    assert view.messages is not MESSAGES


def test_a_host_that_passes_equal_but_new_objects_is_recognised_and_gets_its_present_objects_back() -> None:
    session = CHAINS["last_n"].session()
    session.process(copy.deepcopy(MESSAGES[:40]))
    present = copy.deepcopy(MESSAGES[:42])
    view = session.process(present)
    edited = {edit.position for edit in view.edits}

    assert view.messages == CHAINS["last_n"].process(present).messages
    assert all(sent is present[i] for i, sent in enumerate(view.messages) if i not in edited)


@pytest.mark.parametrize("keep", [0, 1, 10, 33])
def test_a_host_that_rewrites_or_branches_its_history_gets_what_a_stateless_call_gives(keep: int) -> None:
    session = CHAINS["tags"].session()
    session.process(MESSAGES[:60])
    branch = [*MESSAGES[:keep], {"role": "user", "content": "Start again."}, *MESSAGES[60:80]]

    assert session.process(branch).messages == CHAINS["tags"].process(branch).messages


def test_content_that_a_host_edits_in_place_is_noticed_by_its_length() -> None:
    held = copy.deepcopy(MESSAGES[:30])
    session = CHAINS["last_n"].session()
    session.process(held)
    held[-1]["content"] += " and more"

    assert session.process(held).messages == CHAINS["last_n"].process(held).messages


def test_a_shorter_history_than_before_is_a_branch() -> None:
    session = CHAINS["last_n"].session()
    session.process(MESSAGES[:60])

    assert session.process(MESSAGES[:20]).messages == CHAINS["last_n"].process(MESSAGES[:20]).messages


def test_asking_twice_for_one_step_gives_the_same_view() -> None:
    session = CHAINS["polling"].session()
    first = session.process(MESSAGES[:50])
    again = session.process(MESSAGES[:50])

    assert again.messages == first.messages
    assert again.edits == first.edits


def test_a_requery_that_appends_messages_after_the_view_does_not_disturb_the_session() -> None:
    session = CHAINS["last_n"].session()
    session.process(MESSAGES[:40])
    requery = [*MESSAGES[:40], {"role": "assistant", "content": "?"}, {"role": "user", "content": "Say it again."}]
    session.process(requery)

    assert session.process(MESSAGES[:44]).messages == CHAINS["last_n"].process(MESSAGES[:44]).messages


@pytest.mark.parametrize("name", CHAINS)
def test_processing_a_view_again_changes_nothing(name: str) -> None:
    once = CHAINS[name].process(MESSAGES).messages

    assert CHAINS[name].process(once).messages == once


def test_a_request_mapping_and_a_list_of_messages_are_the_same_history() -> None:
    chain = CHAINS["last_n"]

    assert chain.process(RUN).messages == chain.process(MESSAGES).messages
    assert chain.process(RUN).model == RUN["model"]


def test_a_context_manager_gives_a_session() -> None:
    with CHAINS["last_n"].session("run-42") as session:
        view = session.process(MESSAGES[:11])

    assert session.id == "run-42"
    assert len(view.messages) == 11


@pytest.mark.parametrize("nothing", [[], {"messages": []}])
def test_an_empty_history_is_an_empty_view(nothing: Any) -> None:
    assert CHAINS["last_n"].process(nothing).messages == []


@pytest.mark.parametrize("wrong", ["text", 7, None, {"messages": "text"}])
def test_what_is_no_list_of_messages_is_said_in_one_line(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"^messages: a \w+; give a list of messages, or one request mapping$"):
        CHAINS["last_n"].process(wrong)


def test_messages_that_no_dialect_fits_are_said_in_one_line() -> None:
    with pytest.raises(InputError, match=r"^messages: no dialect fits yet \(the first has the keys speaker\)"):
        CHAINS["last_n"].process([{"speaker": "me"}])


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"there is no dialect 'openia'; did you mean 'openai'\?"):
        CHAINS["last_n"].process(MESSAGES, dialect="openia")


def test_tokens_before_and_after_are_counted_when_asked_for() -> None:
    tokens = CHAINS["last_n"].process(MESSAGES).tokens

    assert 0 < tokens.after < tokens.before


def test_a_request_without_messages_names_the_key_that_was_probably_meant() -> None:
    with pytest.raises(InputError, match=r"the request has no key 'messages'; it has 'mesages'; give"):
        CHAINS["last_n"].process({"mesages": MESSAGES})


def test_content_edited_in_place_is_noticed_beside_an_equal_copy_of_another_message() -> None:
    held = copy.deepcopy(MESSAGES[:30])
    session = CHAINS["last_n"].session()
    session.process(held)
    held[-1]["content"] = held[-1]["content"][::-1]
    held[0] = dict(held[0])

    assert session.process(held).messages == CHAINS["last_n"].process(held).messages


def test_marks_of_another_dialect_that_come_later_are_noticed() -> None:
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 1}]")
    session = chain.session()
    for length in requests(MESSAGES)[:6]:
        view = session.process(MESSAGES[:length], system="You are careful.")

    assert view.dialect == "openai"
    assert view.messages == chain.process(MESSAGES[:length], system="You are careful.").messages


def test_threads_that_share_a_session_wait_for_one_another_and_get_the_view_of_their_own_request() -> None:
    run = conversation("openai").user("Mend it.")
    for number in range(40):
        run = run.step("I read.", call("read_file", path=f"{number}.py"), result(f"{number} line\n" * 60))
    messages = run.messages()
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 2}]", archive="memory:")
    stops = range(5, len(messages) + 1, 2)
    alone = {stop: chain.process(messages[:stop]).messages for stop in stops}

    with chain.session() as session, ThreadPoolExecutor(4) as pool:
        views = list(pool.map(lambda stop: (stop, session.process(messages[:stop]).messages), [*stops] * 3))

    assert all(view == alone[stop] for stop, view in views)


class _Interrupted(BaseException):
    """What a signal raises, wherever it comes."""


@pytest.mark.parametrize("where", ["parse", "patch"])
def test_a_session_that_was_interrupted_in_the_middle_goes_on_as_a_fresh_one_would(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = conversation("openai").user("Mend it.")
    for number in range(8):
        run = run.step("I read.", call("read_file", path=f"{number}.py"), result(f"{number} line\n" * 60))
    messages = run.messages()
    chain = elision.loads("history_processors: [{type: last_n_observations, n: 2}]", archive="memory:")
    dialect = next(each for each in plugins().dialects() if each.name == "openai")

    with chain.session() as session:
        session.process(messages[:7])
        with monkeypatch.context() as patched:
            patched.setattr(type(dialect), where, _interrupted_at_the_third(getattr(type(dialect), where)))
            with pytest.raises(_Interrupted):
                session.process(messages[:15])
        view = session.process(messages)

    assert view.messages == chain.process(messages).messages


def _interrupted_at_the_third(function: Callable[..., Any]) -> Callable[..., Any]:
    seen: list[object] = []

    def interrupted(*args: Any) -> Any:
        seen.append(args)
        if len(seen) == 3:
            raise _Interrupted
        return function(*args)

    return interrupted
