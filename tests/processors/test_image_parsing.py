"""``image_parsing``: base64 images in markdown become image parts, once."""

from __future__ import annotations

from typing import Any

import pytest

import elision

PNG = "iVBORw0KGgo="
MARKDOWN = f"see ![shot](data:image/png;base64,{PNG}) end"
PARTS = [
    {"type": "text", "text": "see ![shot](data:"},
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    {"type": "text", "text": ") end"},
]


def process(content: Any, role: str = "user", options: str = "") -> Any:
    chain = elision.loads(f"history_processors: [{{type: image_parsing, {options}}}]")
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "task"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": content if role == "tool" else "out"},
        {"role": "assistant" if role == "tool" else role, "content": "done" if role == "tool" else content},
    ]
    return chain.process(history).messages[2 if role == "tool" else 3]["content"]


@pytest.mark.parametrize("role", ["user", "tool"])
def test_an_image_in_markdown_becomes_an_image_part(role: str) -> None:
    assert process(MARKDOWN, role) == PARTS


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_other_roles_are_left_alone(role: str) -> None:
    assert process(MARKDOWN, role) == MARKDOWN


def test_images_in_several_parts_are_parsed_and_other_parts_stay() -> None:
    image = {"type": "image_url", "image_url": {"url": "u"}}
    content = [{"type": "text", "text": MARKDOWN, "extra": 1}, image, {"type": "text", "text": "no image"}]

    assert process(content) == [*PARTS, image, {"type": "text", "text": "no image"}]


def test_parsing_twice_is_parsing_once() -> None:
    assert process(process(MARKDOWN)) == PARTS


@pytest.mark.parametrize(
    "text",
    [
        "![g](data:image/gif;base64,AA==)",
        "![x](data:image/png;base64,not base64!)",
        "![x](data:image/png;base64,AAA)",
        "![x](http://host/x.png)",
        "text about base64, only",
    ],
)
def test_what_is_no_allowed_image_stays_text(text: str) -> None:
    assert process(text) == text


def test_allowed_types_are_an_option_and_jpg_is_jpeg() -> None:
    gif = "![g](data:image/gif;base64,AA==)"
    jpg = "![g](data:image/jpg;base64,AA==)"

    assert process(gif, options="allowed_mime_types: [image/gif]")[1]["image_url"]["url"].startswith("data:image/gif")
    assert process(jpg)[1]["image_url"]["url"].startswith("data:image/jpeg")


def test_content_without_text_is_carried() -> None:
    content = [{"type": "image_url", "image_url": {"url": "u"}}]

    assert process(content) == content


@pytest.mark.parametrize(
    "text",
    [
        "![](data:" * 22_000 + "base64,",
        "![" * 100_000 + "base64,",
        "![](data:" * 22_000 + ";base64,",
        "![](data:a;base64," * 11_000,
        "![" * 100_000 + "](data:a;base64," * 10_000,
        "![x](data:image/png;base64,",
        "![x](data:image/png;base64,)",
        "![x](data:;base64,AAAA)",
        "![x](data:image/png\n;base64,AAAA)",
        "[x](data:image/png;base64,AAAA)",
        "![x] (data:image/png;base64,AAAA)",
    ],
    ids=lambda text: text[:30],
)
def test_what_only_begins_like_an_image_stays_text(text: str) -> None:
    assert process(text) == text


def test_an_image_after_what_only_begins_like_one_is_found() -> None:
    sent = process("![](data:" * 22_000 + "base64, " + MARKDOWN)

    assert sent[1:] == PARTS[1:]
    assert sent[0]["text"].endswith("base64, see ![shot](data:")


def test_images_in_a_row_are_all_found() -> None:
    sent = process(MARKDOWN * 3)

    assert [part["type"] for part in sent] == ["text", "image_url"] * 3 + ["text"]
    assert sent[2]["text"] == ") endsee ![shot](data:"
