"""Images and files are counted by what they cost, never as base64 text."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from token_pictures import KINDS, encoded, messages, png

from elision import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from elision.profiles import profile_for
from elision.tokens import (
    IMAGE_TOKENS,
    count_beside,
    count_messages,
    count_part,
    count_parts,
    count_system,
    count_text,
    count_tools,
)
from elision.tokens.media import PAGE_TOKENS, image_size

DIALECTS = ("openai", "anthropic", "responses", "gemini")
PDF = base64.b64encode(b"%PDF-1.7\n" + bytes(499_991)).decode()
"""A document of 500,000 bytes: ten pages by the estimate."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(1, 1), (640, 480), (3000, 2000)])
def test_the_size_of_an_image_is_read_from_its_header(kind: str, size: tuple[int, int]) -> None:
    data = encoded(KINDS[kind](*size), 60_000)

    assert image_size(f"data:image/{kind.split(maxsplit=1)[0]};base64,{data}") == size


def test_base64_in_lines_or_in_the_alphabet_of_urls_is_read_too() -> None:
    data = encoded(png(640, 480), 400)
    lines = "\n".join(data[start : start + 76] for start in range(0, len(data), 76))
    spelt = data.replace("+", "-").replace("/", "_").rstrip("=")

    assert [image_size(f"data:image/png;base64,{each}") for each in (lines, spelt)] == [(640, 480)] * 2


@given(st.binary(max_size=300), st.sampled_from([b"", *(make(9, 9)[:20] for make in KINDS.values())]))
def test_no_bytes_at_all_break_the_reader(rest: bytes, head: bytes) -> None:
    found = image_size("data:image/png;base64," + base64.b64encode(head + rest).decode())

    assert found is None or (len(found) == 2 and all(isinstance(each, int) for each in found))


@pytest.mark.parametrize(
    "url", ["data:", "data:image/png;base64,", "data:image/png;base64,é!", "https://a.b/c.png", ""]
)
def test_an_image_of_unknown_size_has_the_estimate_of_its_profile(url: str) -> None:
    expected = [IMAGE_TOKENS, 1600, 765]

    assert [count_part(Image(url), model) for model in (None, "claude-sonnet-4-5", "gpt-4o")] == expected


@pytest.mark.parametrize("key", ["data", "base64", "image", "image_base64", "screenshot", "b64_json"])
def test_an_image_as_other_kits_pack_it_is_no_text(key: str) -> None:
    raw = {"type": "image", "mime_type": "image/png", key: encoded(png(640, 480), 60_000)}

    assert IMAGE_TOKENS <= count_part(Opaque("image", raw)) < IMAGE_TOKENS + 60


@pytest.mark.parametrize("size", [(0, 0), (0, 800), (2_000_000_000, 3_000_000_000), (20, 16_385)])
@pytest.mark.parametrize("model", [None, "claude-sonnet-4-5", "gpt-4o", "gemini-2.5-pro", "qwen-vl-max"])
def test_a_size_that_no_provider_takes_is_not_believed(size: tuple[int, int], model: str | None) -> None:
    made_up = Image(f"data:image/png;base64,{encoded(png(*size), 900)}")

    assert count_part(made_up, model) == count_part(Image("https://a.b/c.png"), model) < 2000


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("model", "tokens"),
    [("gpt-4o", 765), ("claude-sonnet-4-5", 1399), ("gpt-5-mini", 1229), ("gemini-3-pro-preview", 1120), (None, 765)],
)
def test_a_600_kb_image_has_the_price_of_its_size_in_every_dialect(
    dialect: str, model: str | None, tokens: int
) -> None:
    message = messages(encoded(png(1024, 1024), 600_000))[dialect]
    known = profile_for(model).images.cost(1024, 1024)

    assert count_messages([[message]], dialect, model) == [tokens]
    assert tokens == known


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_600_kb_image_that_nobody_can_read_has_the_stated_estimate(dialect: str) -> None:
    message = messages(base64.b64encode(bytes(450_000)).decode(), "image/avif")[dialect]

    assert count_messages([[message]], dialect, "claude-sonnet-4-5") == [1600]


def test_an_image_inside_a_result_costs_what_it_costs_elsewhere() -> None:
    url = f"data:image/png;base64,{encoded(png(1024, 1024))}"
    result = ToolResult("a", (Text("seen"), Image(url)))

    assert count_part(result, "gpt-4o") == count_text("seen") + 765


def test_an_image_that_the_provider_has_made_is_an_image_and_no_text() -> None:
    data = encoded(png(1024, 1024), 600_000)
    made = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": data}
    (tokens,) = count_messages([[made]], "responses", "gpt-5.2")

    assert tokens < 1_000


def test_an_image_asked_for_in_low_detail_is_cheap_where_there_is_such_a_price() -> None:
    url = f"data:image/png;base64,{encoded(png(1024, 1024))}"
    chat = Image(url, {"type": "image_url", "image_url": {"url": url, "detail": "low"}})
    items = Image(url, {"type": "input_image", "image_url": url, "detail": "low"})

    assert [count_part(each, "gpt-4o") for each in (chat, items)] == [85, 85]
    assert count_part(chat, "claude-sonnet-4-5") == 1399


FILES: dict[str, Any] = {
    "anthropic": {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
    "openai": {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PDF}"}},
    "responses": {"type": "input_file", "file_data": f"data:application/pdf;base64,{PDF}"},
    "gemini": {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
    "bedrock": {"document": {"format": "pdf", "source": {"bytes": base64.b64decode(PDF)}}},
    "object": {"inline_data": {"mime_type": "application/pdf", "data": base64.b64decode(PDF)}},
}


@pytest.mark.parametrize("raw", FILES.values(), ids=FILES)
def test_a_document_has_the_stated_estimate_by_its_size_in_every_shape(raw: Any) -> None:
    tokens = count_part(Opaque("file", raw), "gpt-4o")

    assert 10 * PAGE_TOKENS <= tokens <= 10 * PAGE_TOKENS + 40


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "document", "source": {"type": "url", "url": "https://a.example/b.pdf"}},
        {"type": "file", "file": {"file_id": "file_1"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a.example/b"}},
    ],
)
def test_a_file_that_is_only_named_counts_as_one_page(raw: Any) -> None:
    assert PAGE_TOKENS < count_part(Opaque("file", raw)) < PAGE_TOKENS + 60


def test_a_text_file_is_counted_as_its_text_however_it_is_packed() -> None:
    text = "今日は東京で会議があります。" * 30
    packed = base64.b64encode(text.encode()).decode()
    plain = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}
    inline = {"inlineData": {"mimeType": "text/plain", "data": packed}}
    url = {"type": "file", "file": {"file_data": f"data:text/plain;base64,{packed}"}}
    counted = [count_part(Opaque("file", raw)) - count_text(text) for raw in (plain, inline, url)]

    assert all(0 < over < 40 for over in counted)


def test_sound_is_one_token_for_500_bytes() -> None:
    data = base64.b64encode(bytes(50_000)).decode()
    tokens = count_part(Opaque("input_audio", {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}))

    assert 100 <= tokens < 130


def test_base64_that_a_tool_printed_is_text() -> None:
    text = encoded(png(64, 64), 3_000)

    assert count_part(ToolResult("a", (Text(f"data:image/png;base64,{text}"),))) > 1_000


@pytest.mark.parametrize(
    ("thinking", "tokens"),
    [
        (Thinking("first this then that"), 4),
        (Thinking("", {"type": "redacted_thinking", "data": "x" * 4_000}), 400),
        (Thinking("in short", {"type": "reasoning", "encrypted_content": "x" * 3_000}), 300),
        (Thinking("first this then that", {"type": "thinking", "signature": "x" * 20}), 4),
    ],
)
def test_thinking_counts_its_text_or_what_its_seal_hides(thinking: Thinking, tokens: int) -> None:
    assert count_part(thinking) == tokens


def test_a_call_counts_its_name_and_its_arguments() -> None:
    call = ToolCall("a", "read_file", {"path": "日本.txt"})

    assert count_part(call) == count_text("read_file") + count_text('{"path": "日本.txt"}')


@pytest.mark.parametrize("arguments", [{("a", 1): 2}, {"a": {1, 2}}, {"a": b"x" * 9}, "{broken"])
def test_arguments_of_any_kind_are_counted(arguments: Any) -> None:
    assert count_part(ToolCall("a", "run", arguments)) > 1


def test_data_that_holds_itself_or_has_no_bottom_is_counted() -> None:
    ring: dict[str, Any] = {"text": "around"}
    ring["self"] = ring
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]

    assert count_part(Opaque("ring", ring)) > 0
    assert count_part(Opaque("deep", deep)) > 0
    assert count_part(ToolCall("a", "run", ring)) > 1


TOOLS = [{"name": "read_file", "description": "Read a file.", "input_schema": {"type": "object"}}]


def test_tools_and_system_are_counted_whatever_their_shape() -> None:
    blocks = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    system = ["Be brief.", blocks, {"parts": [{"text": "Be brief."}]}]

    assert [count_system(each) for each in system] == [count_text("Be brief.")] * 3
    assert count_tools(TOOLS) > count_text("read_file Read a file.")
    assert count_beside(blocks, TOOLS) == count_system(blocks) + count_tools(TOOLS)
    assert (count_beside(None, None), count_tools([]), count_system("")) == (0, 0, 0)


def test_a_cache_breakpoint_costs_nothing() -> None:
    marked = [{**TOOLS[0], "cache_control": {"type": "ephemeral", "ttl": "1h"}}]

    assert count_tools(marked) == count_tools(TOOLS)


def test_parts_have_the_tokens_of_each_of_them() -> None:
    result = ToolResult("a", (Text("what was found"), Image("https://a.b/c.png")))
    parts = [Text("I look."), ToolCall("a", "read_file", {"path": "a.py"}), result, Text("I look.")]

    assert count_parts(parts, "gpt-4o") == sum(count_part(part, "gpt-4o") for part in parts)
    assert count_parts((), "gpt-4o") == 0


@pytest.mark.parametrize("kind", [{"a": 1}, [1], 5, None])
def test_a_part_whose_type_is_no_text_is_counted(kind: Any) -> None:
    assert count_part(Opaque("", {"type": kind, "text": "words of some kind"})) > 0
