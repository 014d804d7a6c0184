"""Calls of ``elision.completion`` for Gemini, whose provider signs what it says: run as a script.

The server here has Google's own shape.  It prints one JSON object: the signatures that came back in the last request.
"""

from __future__ import annotations

import json
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import elision

TOOL = {"name": "ls", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}
ASKED: list[dict[str, Any]] = []


def said(number: int) -> list[dict[str, Any]]:
    """Return what the model says: two calls, of which the first is signed; at last a signed text."""
    if number >= 3:
        return [{"text": "Done.", "thoughtSignature": "c2lnbmVkIHRleHQ="}]
    calls = [{"functionCall": {"name": "ls", "args": {"path": f"{number}{side}"}}} for side in "ab"]
    return [{"text": f"I look {number}."}, {**calls[0], "thoughtSignature": f"c2lnbmF0dXJl{number}"}, calls[1]]


class Google(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ASKED.append(body)
        candidate = {"content": {"role": "model", "parts": said(len(ASKED) - 1)}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 900, "candidatesTokenCount": 9, "totalTokenCount": 909}
        told = json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is http.server's)
        """Say nothing."""


def stored(message: Any, *, ids: bool) -> list[dict[str, Any]]:
    """Return an answer as a host keeps it that has no place for signatures; without ``ids``, nor for long ids."""
    calls = [
        {
            "id": each.id if ids else each.id.partition("__thought__")[0],
            "type": "function",
            "function": dict(each.function),
        }
        for each in message.tool_calls or ()
    ]
    for each in calls:
        each["function"].pop("provider_specific_fields", None)
    results = [{"role": "tool", "tool_call_id": each["id"], "content": "a.py"} for each in calls]
    return [{"role": "assistant", "content": message.content, **({"tool_calls": calls} if calls else {})}, *results]


def asked(messages: list[Any], base: str, session: elision.Session) -> Any:
    answer = elision.completion(
        "gemini/gemini-3-pro-preview",
        messages,
        session=session,
        tools=[{"type": "function", "function": TOOL}],
        api_base=base,
        api_key="none",
        num_retries=0,
        max_retries=0,
    )
    return answer.choices[0].message


def signatures(base: str, archive: str, *, ids: bool, restarts: bool) -> list[list[Any]]:
    """Return the signatures of the parts of each turn of the model, as they come back in the last request."""
    ASKED.clear()
    messages: list[Any] = [{"role": "user", "content": "Go."}]
    made = elision.Chain((), archive=archive)
    session = made.session()
    for _ in range(4):
        session = made.session() if restarts else session
        messages += stored(asked(messages, base, session), ids=ids)
    asked([*messages, {"role": "user", "content": "And now?"}], base, session)
    turns = [turn for turn in ASKED[-1]["contents"] if turn["role"] == "model"]
    return [[part.get("thoughtSignature") for part in turn["parts"]] for turn in turns]


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Google)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/v1beta"
    found = {}
    for ids in (True, False):
        for restarts in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                archive = str(Path(folder) / "archive")
                found[f"{ids} {restarts}"] = signatures(base, archive, ids=ids, restarts=restarts)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
