from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

import elision

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
IMAGE = "data:image/png;base64," + base64.b64encode(b"png").decode()


def history(*results: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Use {SECRET}."}]
    for number, content in enumerate(results):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return messages


@pytest.fixture
def redacting(chain: Callable[[str], elision.Chain]) -> elision.Chain:
    return chain("history_processors: [{type: redact}]")


def test_a_secret_in_a_result_is_not_sent_and_the_rest_of_it_is(redacting: elision.Chain) -> None:
    view = redacting.process(history(f"token={SECRET}\nport=8080"))

    assert SECRET not in view.messages[-1]["content"]
    assert view.messages[-1]["content"].endswith("port=8080")


def test_a_result_without_secrets_is_sent_as_the_hosts_own_object(redacting: elision.Chain) -> None:
    given = history("port=8080")

    assert redacting.process(given).messages[-1] is given[-1]


def test_the_newest_result_is_redacted_before_it_is_first_sent(redacting: elision.Chain) -> None:
    messages = history("fine", f"key {SECRET}")
    with redacting.session() as session:
        session.process(messages[:3])
        view = session.process(messages)

    assert SECRET not in str(view.messages[1:])


def test_what_is_recalled_is_redacted_in_the_same_way_unless_the_owner_asks_for_it_raw(
    redacting: elision.Chain,
) -> None:
    original = f"token={SECRET}"
    (edit,) = redacting.process(history(original)).edits
    archive = redacting.opened_archive

    assert SECRET not in elision.recall(edit.ref, archive=archive).text
    assert elision.recall(edit.ref, archive=archive, raw=True).text == original


def test_the_full_policy_leaves_the_size_and_no_image(chain: Callable[[str], elision.Chain]) -> None:
    parts = [{"type": "text", "text": "a" * 1000}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    view = chain("history_processors: [{type: redact, policy: full}]").process(history(parts))
    sent = str(view.messages[-1])

    assert "aaaa" not in sent
    assert IMAGE not in sent
    assert "1,000" in sent


def test_what_was_withheld_stays_as_it_is_when_it_comes_back(chain: Callable[[str], elision.Chain]) -> None:
    full = chain("history_processors: [{type: redact, policy: full}]")
    view = full.process(history("a long text", [{"type": "image_url", "image_url": {"url": IMAGE}}]))

    assert full.process(view.messages).messages == view.messages


def test_images_stay_where_only_secrets_are_withheld(redacting: elision.Chain) -> None:
    parts = [{"type": "text", "text": SECRET}, {"type": "image_url", "image_url": {"url": IMAGE}}]
    sent = redacting.process(history(parts)).messages[-1]["content"]

    assert SECRET not in str(sent)
    assert sent[1] is parts[1]


def test_calls_and_texts_of_the_user_are_not_touched(redacting: elision.Chain) -> None:
    given = history(f"key {SECRET}")

    assert redacting.process(given).messages[:2] == given[:2]


def test_it_goes_on_where_nothing_can_be_archived(chain: Callable[[str], elision.Chain], monkeypatch: Any) -> None:
    monkeypatch.delenv("ELISION_ARCHIVE")
    view = chain("archive: none\nhistory_processors: [{type: redact}]").process(history(f"key {SECRET}"))

    assert SECRET not in str(view.messages[1:])


def test_a_placeholder_with_a_head_shows_no_secret(chain: Callable[[str], elision.Chain]) -> None:
    text = "history_processors: [{type: redact}, {type: last_n_observations, n: 1, placeholder: head}]"
    long = f"key {SECRET} and then " + "more " * 200
    view = chain(text).process(history(long, "x", "y"))

    assert SECRET not in str(view.messages[1:])
    assert "it began" in view.messages[2]["content"]
