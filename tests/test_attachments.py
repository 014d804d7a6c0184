"""Results that are files: documents, images by reference and the like are cleared as texts and images are."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from elision import SentView, loads

PDF = base64.b64encode(b"%PDF-1.4" + bytes(300_000)).decode()
WORDS = "A line of the report. " * 400
CHAIN = 'history_processors: [{type: clear_tool_results, keep: 0, schedule: every_step}]\narchive: "memory:"'
BLOCKS: dict[str, Any] = {
    "document": {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
    "document by URL": {"type": "document", "source": {"type": "url", "url": "https://example.com/report.pdf"}},
    "document of text": {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": WORDS}},
    "search result": {
        "type": "search_result",
        "source": "s",
        "title": "t",
        "content": [{"type": "text", "text": WORDS}],
    },
    "image by reference": {"type": "image", "source": {"type": "file", "file_id": "file_011"}},
}
FILES: dict[str, Any] = {
    "file": {"type": "input_file", "filename": "report.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
    "image by reference": {"type": "input_image", "file_id": "file_011"},
}
PARTS: dict[str, Any] = {
    "document": {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    "document by reference": {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://bucket/report.pdf"}},
}


def blocks(content: list[Any], text: str = "") -> list[Any]:
    """Return a run in Anthropic's shape whose results have some content."""
    messages: list[Any] = [{"role": "user", "content": "Read them."}]
    beside = [{"type": "text", "text": text}] if text else []
    for number in range(3):
        use = {"type": "tool_use", "id": f"call_{number}", "name": "read_file", "input": {"path": f"{number}.pdf"}}
        result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": [*beside, *content]}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return messages


def items(output: Any) -> list[Any]:
    """Return a run in the shape of the Responses API."""
    messages: list[Any] = [{"role": "user", "content": "Read them."}]
    for number in range(3):
        arguments = json.dumps({"path": f"{number}.pdf"})
        call = {"type": "function_call", "call_id": f"call_{number}", "name": "read_file", "arguments": arguments}
        messages += [call, {"type": "function_call_output", "call_id": f"call_{number}", "output": [output]}]
    return messages


def contents(part: Any) -> list[Any]:
    """Return a run in Gemini's shape."""
    messages: list[Any] = [{"role": "user", "parts": [{"text": "Read them."}]}]
    for number in range(3):
        call = {"functionCall": {"name": "read_file", "args": {"path": f"{number}.pdf"}}}
        response = {"functionResponse": {"name": "read_file", "response": {}, "parts": [part]}}
        messages += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [response]}]
    return messages


def cleared(view: SentView) -> list[int]:
    return [edit.position for edit in view.edits if edit.action == "elide"]


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("text", ["", "The file:"])
def test_a_result_that_is_a_file_is_cleared(block: Any, text: str) -> None:
    view = loads(CHAIN).process(blocks([block], text), model="claude-sonnet-4-5")

    assert cleared(view) == [2, 4]
    assert view.tokens.after < view.tokens.before / 2
    assert "1 file removed" in json.dumps(view.messages[2])


@pytest.mark.parametrize("item", FILES.values(), ids=FILES)
def test_a_file_of_the_responses_api_is_cleared(item: Any) -> None:
    assert cleared(loads(CHAIN).process(items(item), model="gpt-5.2", dialect="responses")) == [2, 4]


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_file_of_gemini_is_cleared(part: Any) -> None:
    assert cleared(loads(CHAIN).process(contents(part), model="gemini-3.1-pro-preview")) == [2, 4]


def test_a_short_file_of_text_stays_where_its_placeholder_would_be_longer() -> None:
    short = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "ok"}}

    assert cleared(loads(CHAIN).process(blocks([short]), model="claude-sonnet-4-5")) == []


def test_what_nobody_knows_is_no_file_and_stays() -> None:
    reference = {"type": "tool_reference", "tool_name": "get_weather"}

    assert cleared(loads(CHAIN).process(blocks([reference] * 9), model="claude-sonnet-4-5")) == []


def test_an_image_that_is_only_named_costs_what_an_image_of_unknown_size_costs() -> None:
    none, one = (
        loads(CHAIN).process(blocks(each), model="gpt-4o").tokens.before
        for each in ([], [BLOCKS["image by reference"]])
    )

    assert 3 * 765 <= one - none < 3 * 800
