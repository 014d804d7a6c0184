"""Histories written in another dialect: what is carried, what is mended, what is named as left out."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from elision.apply import Recorded, apply, gather
from elision.chain import Chain
from elision.convert import Converted, convert, parsed
from elision.dialect import Dialect, by_name
from elision.documents import Run
from elision.message import Thinking, texts_of
from elision.registry import plugins
from elision.testing import call, conversation, image, result, text, thinking
from elision.testing.parts import DIALECT_OF, SHAPES, Shape

DIALECTS = [dialect.name for dialect in plugins().dialects()]
PAIRS = list(itertools.product(SHAPES, DIALECTS))


def dialect(name: str) -> Dialect:
    return by_name(plugins().dialects(), name)


def converted(messages: list[Any], source: str, target: str, **options: Any) -> Converted:
    return convert(messages, dialect(source), dialect(target), **options)


def sample(shape: Shape) -> list[Any]:
    return (
        conversation(shape)
        .user("Mend a.py.")
        .step("I look.", call("bash", command="cat a.py"), result("x = 1"))
        .step("I run it.", call("bash", command="python a.py"), result("fine"))
        .messages()
    )


def words(messages: list[Any], name: str) -> str:
    return "\n".join(part for message in parsed(messages, dialect(name)).messages for part in texts_of(message.parts))


@pytest.mark.parametrize(("shape", "target"), PAIRS)
def test_texts_calls_and_results_are_carried_to_every_dialect(shape: Shape, target: str) -> None:
    made = converted(sample(shape), DIALECT_OF[shape], target)
    found = words(made.messages, target)

    assert made.lost == ()
    assert [said for said in ("Mend a.py.", "I look.", "x = 1", "I run it.", "fine") if said not in found] == []


@pytest.mark.parametrize(("shape", "target"), PAIRS)
def test_what_was_converted_needs_no_mending(shape: Shape, target: str) -> None:
    made = converted(sample(shape), DIALECT_OF[shape], target)
    view = Chain().process(made.messages, dialect=target)

    assert (view.repairs, view.pending) == ((), ())


@pytest.mark.parametrize("name", DIALECTS)
def test_messages_of_the_same_dialect_stay_the_very_objects(name: str) -> None:
    messages = [{"role": "user", "content": "Mend it.", "extra": 1}]

    assert converted(messages, name, name).messages[0] is messages[0]


def parallel() -> list[Any]:
    return (
        conversation("openai")
        .user("Mend it.")
        .step(call("bash", command="ls"), call("bash", command="pwd"), result("a.py"), result("here"))
        .messages()
    )


def test_results_of_one_step_become_one_message_where_the_wire_wants_that() -> None:
    made = converted(parallel(), "openai", "anthropic")
    blocks = made.messages[-1]["content"]

    assert [message["role"] for message in made.messages] == ["user", "assistant", "user"]
    assert [block["content"] for block in blocks] == ["a.py", "here"]
    assert [block["tool_use_id"] for block in blocks] == [block["id"] for block in made.messages[1]["content"]]


def test_one_message_of_results_becomes_one_for_each() -> None:
    there = converted(parallel(), "openai", "anthropic").messages
    back = converted(there, "anthropic", "openai").messages

    assert [message["role"] for message in back] == ["user", "assistant", "tool", "tool"]


def test_the_system_prompt_beside_the_messages_becomes_the_first_one() -> None:
    made = converted([{"role": "user", "content": "Mend it."}], "anthropic", "openai", system="Be brief.")

    assert made.messages[0] == {"role": "system", "content": "Be brief."}


def test_the_system_prompt_is_told_apart_where_it_stands_beside_the_messages() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Mend it."}]
    made = converted(messages, "openai", "anthropic")

    assert [message["role"] for message in made.messages] == ["user"]
    assert made.system == "Be brief."
    assert made.lost == ()


@pytest.mark.parametrize(
    "id_", ["", "functions.bash:0", "call_1", "x" * 1500], ids=["none", "Kimi", "repeated", "huge"]
)
def test_calls_without_an_id_that_every_wire_takes_get_one_that_their_results_have_too(id_: str) -> None:
    messages = (
        conversation("openai")
        .user("Mend it.")
        .step(call("bash", call_id=id_, command="ls"), result("a.py", call_id=id_))
        .step(call("bash", call_id=id_, command="pwd"), result("here", call_id=id_))
        .messages()
    )
    made = converted(messages, "openai", "anthropic").messages
    used = [block["id"] for message in made[1::2] for block in message["content"]]
    answered = [block["tool_use_id"] for message in made[2::2] for block in message["content"]]

    assert all(re.fullmatch(r"[\w-]{1,64}", each) for each in used)
    assert len(set(used)) == 2
    assert answered == used


def test_cache_breakpoints_are_carried() -> None:
    messages = [{"role": "user", "content": [text_block("Mend it.", cache_control={"type": "ephemeral"})]}]
    made = converted(messages, "openai", "anthropic").messages

    assert made[0]["content"][-1]["cache_control"] == {"type": "ephemeral"}


def text_block(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def test_keys_of_the_source_do_not_leak_into_the_target() -> None:
    messages = [{"role": "user", "content": [text_block("Mend it.", citations=[])], "extra": 1}]

    assert converted(messages, "anthropic", "openai").messages == [{"role": "user", "content": "Mend it."}]


def test_parts_that_nobody_knows_are_left_out_and_named() -> None:
    document = {"type": "document", "source": {"type": "text", "data": "x"}}
    messages = [{"role": "user", "content": [text_block("Read this."), document, document]}]
    made = converted(messages, "anthropic", "openai")

    assert made.messages == [{"role": "user", "content": "Read this."}]
    assert made.lost == ("document (opaque): 2 left out; there is no place for it in openai",)


def test_thinking_without_a_signature_is_named_where_the_wire_wants_one() -> None:
    messages = conversation("openai").user("Mend it.").step(thinking("Hm."), "Done.").messages()
    made = converted(messages, "openai", "anthropic")

    assert made.lost == ("thinking: 1 left out; there is no place for it in anthropic",)


def test_signed_thinking_comes_back_as_it_was_where_the_dialect_carries_it() -> None:
    messages = conversation("openai").user("Mend it.").step(thinking("Hm.", signature="abc"), "Done.").messages()
    made = converted(messages, "openai", "anthropic")
    parts = [part for message in parsed(made.messages, dialect("anthropic")).messages for part in message.parts]

    assert [part.text for part in parts if isinstance(part, Thinking)] == ["Hm."]
    assert made.lost == ()


def test_images_are_carried_between_the_wires() -> None:
    messages = conversation("openai").user(text("Look."), image()).messages()
    there = converted(messages, "openai", "anthropic")
    back = converted(there.messages, "anthropic", "openai")

    assert (there.lost, back.lost) == ((), ())
    assert back.messages == messages


def test_a_poisoned_file_is_mended_for_the_wire_that_it_is_written_for() -> None:
    messages = conversation("sweagent").user("Mend it.").step(call("bash", command="ls")).messages()
    recorded = Recorded("run.traj", 0, Run(messages), dialect("sweagent"))
    sent = apply(Chain(), recorded, target="openai").messages

    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]


def test_without_a_standard_input_there_is_nothing_to_read() -> None:
    with pytest.raises(Exception, match="the file is empty"):
        gather(["-"])


def test_an_id_that_is_made_up_is_none_that_the_history_uses_anywhere() -> None:
    ids = ["call_1_0", "", "", "call_2_0", "call_1_0_"]
    built = conversation("openai").user("Mend it.")
    for id_ in ids:
        built = built.step(call("bash", call_id=id_, command="ls"), result("a.py", call_id=id_))
    made = converted(built.messages(), "openai", "anthropic").messages
    used = [block["id"] for message in made[1::2] for block in message["content"]]
    answered = [block["tool_use_id"] for message in made[2::2] for block in message["content"]]

    assert len(set(used)) == len(ids)
    assert [used[0], *used[3:]] == [ids[0], *ids[3:]]
    assert answered == used


def test_a_history_that_begins_with_the_assistant_is_named_where_the_wire_wants_a_user_first() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "I begin."}]
    made = converted(messages, "openai", "anthropic")

    assert made.lost == ("user message: none before the first of the assistant; anthropic wants one first; add one",)


def test_the_error_mark_of_a_result_is_named_where_it_has_no_place() -> None:
    messages = (
        conversation("anthropic").user("Mend it.").step(call("bash", command="ls"), result("no", error=True)).messages()
    )
    made = converted(messages, "anthropic", "openai")

    assert made.lost == ("error mark of a tool result: 1 left out; there is no place for it in openai",)
