"""One script is answered in the shape of each protocol, whole and as a stream, and the server keeps what came."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from model_client import asked, events, post, send

from elision.testing import ModelServer, call, conversation, failure, redacted_thinking, reply, result, thinking
from elision.testing.server import Asked, Reply

MODELS = {"openai": "deepseek-v4-pro", "anthropic": "claude-sonnet-4-5", "responses": "gpt-5.2"}
SHAPES = list(MODELS)


def request(shape: str, text: str = "Go.", **more: Any) -> dict[str, Any]:
    limit = {"max_tokens": 100} if shape == "anthropic" else {}
    return {"model": MODELS[shape], **conversation(shape).user(text).request(), **limit, **more}  # type: ignore[arg-type]


def said(shape: str, answer: Any) -> tuple[str, str, list[tuple[str, Any]]]:
    """The thinking, the text and the calls of an answer."""
    if shape == "openai":
        message = answer["choices"][0]["message"]
        calls = [(each["function"]["name"], each["function"]["arguments"]) for each in message.get("tool_calls", [])]
        return message.get("reasoning_content", ""), message["content"] or "", [(n, json.loads(a)) for n, a in calls]
    parts = answer["content" if shape == "anthropic" else "output"]
    if shape == "anthropic":
        calls = [(each["name"], each["input"]) for each in parts if each["type"] == "tool_use"]
        return "".join(p.get("thinking", "") for p in parts), "".join(p.get("text", "") for p in parts), calls
    thoughts = "".join(each["summary"][0]["text"] for each in parts if each["type"] == "reasoning")
    texts = "".join(each["content"][0]["text"] for each in parts if each["type"] == "message")
    calls = [(p["name"], json.loads(p["arguments"])) for p in parts if p["type"] == "function_call"]
    return thoughts, texts, calls


@pytest.mark.parametrize("shape", SHAPES)
def test_text_thinking_and_parallel_calls_are_said_in_every_shape(shape: str) -> None:
    script = [reply(thinking("Hm."), "Two.", call("read", path="a"), call("read", path="é"))]
    with ModelServer(script) as server:
        answer = asked(server, shape, request(shape))

    assert said(shape, answer) == ("Hm.", "Two.", [("read", {"path": "a"}), ("read", {"path": "é"})])


@pytest.mark.parametrize("shape", SHAPES)
def test_an_empty_answer_says_nothing(shape: str) -> None:
    with ModelServer([reply("")]) as server:
        answer = asked(server, shape, request(shape))

    assert said(shape, answer) == ("", "", [])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_huge_answer_comes_whole(shape: str) -> None:
    with ModelServer(["x " * 500_000]) as server:
        answer = asked(server, shape, request(shape))

    assert said(shape, answer)[1] == "x " * 500_000


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("openai", lambda answer: answer["choices"][0]["finish_reason"] == "length"),
        ("anthropic", lambda answer: answer["stop_reason"] == "max_tokens"),
        ("responses", lambda answer: answer["incomplete_details"]["reason"] == "max_output_tokens"),
    ],
)
def test_a_truncated_answer_says_why_it_ended(shape: str, reason: Callable[[Any], bool]) -> None:
    with ModelServer([reply("Half", truncated=True)]) as server:
        answer = asked(server, shape, request(shape))

    assert reason(answer)


def test_a_stream_of_chat_completions_adds_up_to_the_answer() -> None:
    script = [reply(thinking("Hm."), "word " * 100, call("read", path="a"), call("ls"))] * 2
    with ModelServer(script) as server:
        whole = asked(server, "openai", request("openai"))
        body = request("openai", stream=True, stream_options={"include_usage": True})
        status, text = send(server, "openai", body)
    chunks = [data for _, data in events(text)]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-2]]
    pieces: dict[int, str] = {}
    for delta in deltas:
        for each in delta.get("tool_calls", ()):
            pieces[each["index"]] = pieces.get(each["index"], "") + each["function"]["arguments"]
    message = whole["choices"][0]["message"]

    assert (status, chunks[-1]) == (200, "[DONE]")
    assert "".join(delta.get("content", "") for delta in deltas) == message["content"]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == message["reasoning_content"]
    assert list(pieces.values()) == [each["function"]["arguments"] for each in message["tool_calls"]]
    assert chunks[-3]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-2]["usage"]["total_tokens"] == whole["usage"]["total_tokens"]


def test_a_stream_of_messages_adds_up_to_the_answer() -> None:
    parts = (thinking("Hm. " * 100), redacted_thinking("sealed"), "word " * 100, call("read", path="a"), call("ls"))
    with ModelServer([reply(*parts)]) as server:
        _, text = send(server, "anthropic", request("anthropic", stream=True))
    found = events(text)
    blocks = [dict(data["content_block"]) for name, data in found if name == "content_block_start"]
    inputs = [""] * len(blocks)
    for name, data in found:
        if name == "content_block_delta":
            (key,) = set(data["delta"]) - {"type"}
            if key == "partial_json":
                inputs[data["index"]] += data["delta"][key]
            else:
                blocks[data["index"]][key] += data["delta"][key]

    assert [name for name, _ in found[:2]] == ["message_start", "ping"]
    assert [name for name, _ in found[-2:]] == ["message_delta", "message_stop"]
    assert [block["type"] for block in blocks] == ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]
    assert (blocks[0]["thinking"], blocks[2]["text"]) == ("Hm. " * 100, "word " * 100)
    assert blocks[0]["signature"]
    assert [json.loads(each) for each in inputs[3:]] == [{"path": "a"}, {}]


def test_a_stream_of_responses_adds_up_to_the_answer() -> None:
    with ModelServer([reply(thinking("Hm."), "word " * 100, call("read", path="a"))]) as server:
        _, text = send(server, "responses", request("responses", stream=True))
    found = events(text)
    ended = found[-1][1]["response"]
    deltas = {kind: "".join(data["delta"] for name, data in found if name == kind) for kind in dict(found)
              if str(kind).endswith(".delta")}  # fmt: skip

    assert [data["sequence_number"] for _, data in found] == list(range(len(found)))
    assert found[-1][0] == "response.completed"
    assert deltas["response.output_text.delta"] == said("responses", ended)[1]
    assert deltas["response.function_call_arguments.delta"] == '{"path": "a"}'


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
def test_a_failure_comes_with_its_status_in_the_form_of_the_protocol(shape: str, status: int) -> None:
    with ModelServer([failure(status, "No."), "ok"]) as server:
        given, answer = post(server, shape, request(shape))
        after = asked(server, shape, request(shape))

    assert (given, answer["error"]["message"]) == (status, "No.")
    assert ("request_id" in answer) == (shape == "anthropic")
    assert said(shape, after)[1] == "ok"


def test_status_0_closes_the_connection() -> None:
    with ModelServer([failure(0)]) as server, pytest.raises(OSError, match="closed connection"):
        send(server, "openai", request("openai"))


def test_a_delay_holds_an_answer_back_but_not_the_end_of_the_test() -> None:
    with ModelServer([reply("late", delay_seconds=0.2), reply("later", delay_seconds=600)]) as server:
        begun = time.monotonic()
        asked(server, "openai", request("openai"))
        waited = time.monotonic() - begun
        with socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0)) as abandoned:
            raw = json.dumps(request("openai")).encode()
            abandoned.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n")
            abandoned.sendall(f"Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
            while len(server.requests) < 2:
                time.sleep(0.01)
        ending = time.monotonic()

    assert waited >= 0.2
    assert time.monotonic() - ending < 60


def test_a_request_that_breaks_off_as_that_of_a_killed_client_does_is_no_invalid_one() -> None:
    raw = json.dumps(request("openai")).encode()
    with ModelServer() as server:
        with socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0)) as killed:
            killed.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n")
            killed.sendall(f"Content-Length: {len(raw)}\r\n\r\n".encode() + raw[:20])
            killed.shutdown(socket.SHUT_WR)
            answered = killed.recv(100)
        asked(server, "openai", request("openai"))

    assert answered == b""
    assert (server.invalid, len(server.requests)) == ([], 1)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_function_sees_what_was_asked_and_answers(shape: str) -> None:
    heard: list[Asked] = []

    def script(asked: Asked) -> Reply | str:
        heard.append(asked)
        return "done"

    history = conversation(shape).system("Be brief.").user("Go.")  # type: ignore[arg-type]
    step = (thinking("Hm."),) if shape == "openai" else ()
    history = history.step(*step, call("ls"), call("pwd"), result("a.py"), result("/src"))
    tool = {"name": "ls", "parameters": {"type": "object"}}
    tools = {
        "openai": {"type": "function", "function": tool},
        "anthropic": {"name": "ls", "input_schema": {"type": "object"}},
        "responses": {"type": "function", **tool},
    }
    limit = {"max_tokens": 9} if shape == "anthropic" else {}
    with ModelServer(script) as server:
        asked(server, shape, {"model": MODELS[shape], **history.request(), **limit, "tools": [tools[shape]]})
    (seen,) = heard

    assert (seen.shape, seen.model, seen.number) == (shape, MODELS[shape], 0)
    assert (seen.system, seen.user, seen.results, seen.tools) == ("Be brief.", "Go.", ("a.py", "/src"), ("ls",))


def test_a_script_may_look_at_its_server() -> None:
    with ModelServer(lambda _: f"{len(server.requests)} asked, {len(server.usage)} answered") as server:
        asked(server, "openai", request("openai"))
        answer = asked(server, "openai", request("openai"))

    assert said("openai", answer)[1] == "2 asked, 1 answered"


def test_requests_at_one_time_are_all_answered() -> None:
    with ModelServer() as server, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: post(server, "openai", request("openai"))[0], range(40)))

    assert found == [200] * 40
    assert len(server.usage) == 40


def test_a_script_at_its_end_is_told_and_not_retried() -> None:
    with ModelServer(["one"]) as server:
        asked(server, "openai", request("openai"))
        status, answer = post(server, "openai", request("openai"))
        (invalid,) = server.invalid

    assert status == 400
    assert "the script has 1 answers" in answer["error"]["message"]
    assert (invalid.request, invalid.rule) == (1, "script")


def test_a_script_that_raises_is_told() -> None:
    def script(asked: Asked) -> str:
        raise KeyError(asked.user)

    with ModelServer(script) as server:
        status, answer = post(server, "openai", request("openai"))

    assert (status, answer["error"]["message"]) == (400, "KeyError: 'Go.'")


def test_a_refused_request_takes_nothing_from_the_script() -> None:
    with ModelServer(["one"]) as server:
        post(server, "openai", request("openai", frobnicate=1))
        answer = asked(server, "openai", request("openai"))

    assert said("openai", answer)[1] == "one"


def test_requests_are_kept_with_those_that_were_refused() -> None:
    with ModelServer() as server:
        bodies = [request("openai"), request("anthropic", frobnicate=1), request("responses")]
        for shape, body in zip(SHAPES, bodies, strict=True):
            post(server, shape, body)
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.url

    assert server.requests == bodies
    assert [each.request for each in server.invalid] == [1]
    assert [each.model for each in server.usage] == [MODELS["openai"], MODELS["responses"]]


def test_only_the_loopback_device_is_listened_on() -> None:
    with ModelServer() as server:
        assert urlsplit(server.url).hostname == "127.0.0.1"


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_that_is_too_large_is_refused_unread(shape: str) -> None:
    with ModelServer(max_body_bytes=1000) as server:
        status, answer = post(server, shape, request(shape, "x" * 1000))
        huge, _ = post(server, shape, request(shape, "x" * 5_000_000))
        near, _ = post(server, shape, request(shape, "x" * 500))

    assert (status, huge, near) == (413, 413, 200)
    assert "1000" in answer["error"]["message"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("raw", [b"{", b"[]", b"\xff", b"[" * 100_000], ids=["cut", "list", "no text", "deep"])
def test_a_body_that_is_no_json_object_is_refused(shape: str, raw: bytes) -> None:
    with ModelServer() as server:
        status, _ = post(server, shape, raw)
        (invalid,) = server.invalid

    assert (status, invalid.rule, invalid.request) == (400, "json", -1)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_that_is_nested_too_deeply_is_refused(shape: str) -> None:
    with ModelServer() as server:
        status, _ = post(server, shape, request(shape, metadata=json.loads("[" * 900 + "]" * 900)))
        after, _ = post(server, shape, request(shape))

    assert status in (200, 400)
    assert after == 200


def test_another_path_is_not_found() -> None:
    with ModelServer() as server:
        status, answer = post(server, "/v1/embeddings", {})

    assert (status, answer["error"]["type"]) == (404, "not_found_error")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("key", ["messages", "input", "tools", "system", "model", "thinking", "tool_choice"])
def test_no_value_of_a_key_breaks_the_server(shape: str, key: str) -> None:
    values: list[Any] = [None, 1, "x", [1], [None], [[]], [{}], {"a": 1}, [{"role": "user"}], [{"role": []}]]
    with ModelServer() as server:
        found = {post(server, shape, request(shape) | {key: value})[0] for value in values}

    assert found <= {200, 400}


def test_a_server_runs_once() -> None:
    with ModelServer() as server:
        pass

    with pytest.raises(RuntimeError, match="make a new one"):
        server.__enter__()
