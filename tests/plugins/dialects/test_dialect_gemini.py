from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import pytest
from guarded import planned
from pydantic import BaseModel
from wire_rules import wire_faults

import elision
from elision import Chain, Edit, SentView, View
from elision.convert import convert
from elision.dialect import by_name
from elision.documents import runs_in
from elision.registry import plugins
from elision.testing import conversation

Read = Callable[..., elision.History]
Send = Callable[..., SentView]
UNKNOWN = "The outcome of this call is unknown: its result is missing from the history."
LONG = "a line of the log\n" * 40
USER = {"role": "user", "parts": [{"text": "Fix it."}]}


def call(name: str, ident: str = "", **more: Any) -> dict[str, Any]:
    return {"functionCall": {**({"id": ident} if ident else {}), "name": name, "args": {"path": "a"}}, **more}


def answer(name: str, response: Any = LONG, ident: str = "", **more: Any) -> dict[str, Any]:
    held = response if isinstance(response, dict) else {"output": response}
    return {"functionResponse": {**({"id": ident} if ident else {}), "name": name, "response": held, **more}}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def answered(history: elision.History) -> list[tuple[str, str]]:
    """The name of each call and the text of its result."""
    pairs = [pair for step in history.steps for pair in zip(step.calls, step.results, strict=True)]
    return [(made.name, _text(history, address)) for (_, made), address in pairs]


def _text(history: elision.History, address: Any) -> str:
    part = history.messages[address.position].parts[address.part] if address else None
    return part.content[0].text if isinstance(part, elision.ToolResult) else ""  # type: ignore[union-attr]


def process(plan: Callable[[View], Iterable[Edit]], contents: list[Any], **traits: Any) -> SentView:
    before = deepcopy(contents)
    view = Chain([planned(plan, **traits)], classification=None).process(contents)

    assert (view.dialect, contents) == ("gemini", before)
    return view


def cut(part: dict[str, Any], text: str = "[cut]") -> Any:
    """A response that gave way to a text."""
    view = process(
        lambda view: [view.observations[0].replace(text)],
        [USER, model(call("ls")), user(part)],
        operation="redact",
    )
    return view.messages[2]["parts"][0]


def faults(view: SentView) -> list[str]:
    return [repair.fault for repair in view.repairs]


@pytest.mark.parametrize(
    ("calls", "answers"),
    [
        ([call("a"), call("b"), call("a")], [answer("a", "1"), answer("b", "2"), answer("a", "3")]),
        ([call("a"), call("b"), call("a")], [answer("b", "2"), answer("a", "1"), answer("a", "3")]),
        ([call("a", "x"), call("b", "y"), call("a", "z")], [answer("a", "3", "z"), answer("b", "2"), answer("a", "1")]),
        ([call("a"), call("b", "y"), call("a")], [answer("b", "2", "y"), answer("a", "1", "w"), answer("a", "3")]),
    ],
    ids=["by position", "by name", "by id", "where only some have ids"],
)
def test_results_of_parallel_calls_are_paired(calls: list[Any], answers: list[Any], read: Read) -> None:
    history = read("gemini", [USER, model(*calls), user(*answers)])

    assert answered(history) == [("a", "1"), ("b", "2"), ("a", "3")]
    assert not history.poisoned


def test_contents_of_the_model_that_follow_one_another_are_one_step(read: Read) -> None:
    history = read(
        "gemini", [USER, model({"text": "I"}), model({"text": " look."}), model(call("a")), user(answer("a"))]
    )

    assert [(step.start, step.acted, step.stop) for step in history.steps] == [(1, 4, 5)]


def test_names_repeat_from_step_to_step(read: Read) -> None:
    contents = [USER, model(call("a")), user(answer("a", "1")), model(call("a")), user(answer("a", "2"))]

    assert answered(read("gemini", contents)) == [("a", "1"), ("a", "2")]


def test_the_text_of_a_response_is_its_one_string_or_its_json(read: Read) -> None:
    contents = [USER, model(call("a"), call("b")), user(answer("a", {"result": "x"}), answer("b", {"n": 1, "s": "y"}))]

    assert answered(read("gemini", contents)) == [("a", "x"), ("b", '{"n": 1, "s": "y"}')]


@pytest.mark.parametrize(
    ("held", "sent"),
    [
        ({"result": LONG}, {"result": "[cut]"}),
        ({"error": LONG}, {"error": "[cut]"}),
        ({"content": [{"type": "text", "text": LONG}]}, {"content": "[cut]"}),
        ({"stdout": LONG, "code": 0}, {"output": "[cut]"}),
        ({}, {"output": "[cut]"}),
    ],
)
def test_a_text_in_place_of_a_response_stands_where_it_stood(held: Any, sent: Any) -> None:
    assert cut(answer("ls", held, "c1", willContinue=False)) == answer("ls", sent, "c1", willContinue=False)


def test_json_that_was_edited_and_is_still_json_is_written_as_an_object() -> None:
    held = {"stdout": "key=hunter2", "code": 0}
    hidden = json.dumps({**held, "stdout": "key=[redacted]"})

    assert cut(answer("ls", held), hidden) == answer("ls", {"stdout": "key=[redacted]", "code": 0})


@pytest.mark.parametrize("text", ['{"ref":"a1"}', '{"only": "one"}', "[1]", '{"a": 1,  "b": 2}'])
def test_a_placeholder_that_looks_like_json_is_read_as_the_same_text_again(text: str, read: Read) -> None:
    part = cut(answer("ls", {"stdout": LONG, "code": 0}), text)

    assert answered(read("gemini", [USER, model(call("ls")), user(part)])) == [("ls", text)]


def test_of_an_edited_content_only_the_response_is_new_and_its_spelling_is_kept() -> None:
    contents = [
        USER,
        model({"function_call": {"name": "ls", "args": {}}, "thought_signature": "c2ln"}, call("pwd")),
        user({"function_response": {"name": "ls", "response": {"output": LONG}}}, answer("pwd")),
        model({"text": "Done.", "thoughtSignature": "c2ln"}),
    ]
    view = process(lambda view: [view.observations[0].replace("[cut]")], contents)

    assert view.messages[2]["parts"][0] == {"function_response": {"name": "ls", "response": {"output": "[cut]"}}}
    assert view.messages[2]["parts"][1] is contents[2]["parts"][1]
    assert [at for at, sent in enumerate(view.messages) if sent is not contents[at]] == [2]


@pytest.mark.parametrize("key", ["thoughtSignature", "thought_signature"])
def test_a_signature_stays_with_the_text_that_was_edited(key: str) -> None:
    contents = [USER, model({"text": "See a.", key: "c2ln"})]

    def plan(view: View) -> Iterable[Edit]:
        return [view.message(1).parts[0].replace("See.")]

    view = process(plan, contents, touches=frozenset({"assistant"}), operation="redact")

    assert view.messages[1] == model({"text": "See.", key: "c2ln"})


def test_a_signature_stays_where_a_text_became_several() -> None:
    contents = [USER, model({"text": "a b", "thoughtSignature": "c2ln"})]

    def plan(view: View) -> Iterable[Edit]:
        return [view.message(1).parts[0].replace([elision.Text("a"), elision.Text("b")])]

    view = process(plan, contents, touches=frozenset({"assistant"}), operation="redact")

    assert view.messages[1] == model({"text": "a"}, {"text": "b", "thoughtSignature": "c2ln"})


def test_thoughts_code_and_files_are_carried(read: Read) -> None:
    parts = [
        {"text": "Hm.", "thought": True},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "u"}},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
    ]
    kinds = [type(part).__name__ for part in read("gemini", [USER, model(*parts)]).messages[1].parts]

    assert kinds == ["Thinking", "Opaque", "Opaque", "Image"]


def test_pictures_in_a_response_go_when_a_text_takes_its_place() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}

    assert cut(answer("ls", {"output": "a shot"}, parts=[picture])) == answer("ls", "[cut]", parts=[])


def test_a_dangling_call_gets_a_response_of_its_name_and_an_id_only_where_it_has_one(send: Send) -> None:
    view = send([USER, model(call("a"), call("b", "x")), user(answer("b", "2", "x")), USER])

    assert view.messages[2] == user(answer("a", {"error": UNKNOWN}), answer("b", "2", "x"))
    assert faults(view) == ["dangling_call"]
    assert wire_faults("gemini", view.messages) == []


def test_responses_of_one_batch_go_into_one_content_before_what_the_user_says(send: Send) -> None:
    contents = [USER, model(call("a"), call("b")), user({"text": "Go on."}, answer("a", "1")), user(answer("b", "2"))]
    view = send(contents)

    assert view.messages[2:] == [user(answer("a", "1"), answer("b", "2"), {"text": "Go on."})]
    assert faults(view) == ["split_batch"]


def test_an_orphan_response_is_left_out(send: Send) -> None:
    view = send([USER, user(answer("a"), {"text": "Well?"}), model({"text": "Yes."})])

    assert view.messages[1] == user({"text": "Well?"})
    assert faults(view) == ["orphan_result"]


@pytest.mark.parametrize(
    "empty",
    [model(), {"role": "model"}, {"role": "model", "parts": None}, model({"text": ""}, {"text": ""}), model({})],
)
def test_an_answer_with_nothing_in_it_says_so(empty: Any, send: Send) -> None:
    view = send([USER, empty, USER])

    assert view.messages == [USER, model({"text": "(empty)"}), USER]
    assert faults(view) == ["blank_text"]
    assert send(view.messages).messages == view.messages


def test_of_several_parts_those_without_data_are_left_out_and_signed_ones_stay(send: Send) -> None:
    signed = {"text": "", "thoughtSignature": "c2ln"}
    view = send([USER, model({}, {"text": ""}, {"text": "Done."}, signed), USER])

    assert view.messages[1] == model({"text": "Done."}, signed)


def test_no_cache_breakpoint_is_set_where_the_wire_has_none() -> None:
    view = process(lambda view: [view.cache_breakpoint(view.message(0))], [USER], operation="none")

    assert [refusal.reason for refusal in view.refusals] == ["this dialect has no cache breakpoints"]


def test_the_sdks_own_objects_are_read_and_copied() -> None:
    class Response(BaseModel):
        name: str
        response: dict[str, Any]
        id: str | None = None

    class Part(BaseModel):
        text: str | None = None
        function_call: Response | None = None
        function_response: Response | None = None

    class Content(BaseModel):
        role: str
        parts: list[Part]

    held = Content(role="user", parts=[Part(function_response=Response(name="ls", response={"output": LONG}))])
    plan = planned(lambda view: [view.observations[0].replace("[cut]")])
    view = Chain([plan], classification=None).process([USER, model(call("ls")), held, model({"text": "Done."})])

    assert view.messages[2].parts[0].function_response.response == {"output": "[cut]"}
    assert held.parts[0].function_response.response == {"output": LONG}  # type: ignore[union-attr]


def converted(messages: list[Any], source: str, target: str, **more: Any) -> Any:
    known = plugins().dialects()
    return convert(messages, by_name(known, source), by_name(known, target), **more)


def test_calls_without_ids_get_some_and_results_get_the_names_of_their_calls_where_it_is_written() -> None:
    contents = [USER, model(call("a"), call("a")), user(answer("a", "1"), answer("a", {"error": "2"}))]
    there = converted(contents, "gemini", "anthropic").messages
    back = converted(there, "anthropic", "gemini").messages
    first, second = (block["id"] for block in there[1]["content"])

    assert first != second
    assert back[2] == user(answer("a", "1", first), answer("a", {"error": "2"}, second))
    assert wire_faults("gemini", back) == []


def test_the_system_instruction_is_carried_there_and_back() -> None:
    (run,) = runs_in(conversation("gemini").system("Be brief.").user("Fix it.").request())
    there = converted(list(run.messages), "gemini", "openai", system=run.system).messages
    back = converted(there, "openai", "gemini")

    assert there == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Fix it."}]
    assert (back.messages, back.system) == ([USER], "Be brief.")
