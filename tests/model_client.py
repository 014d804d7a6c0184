"""A client of the loopback model server that knows nothing of any provider: it posts JSON and reads JSON."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from elision.testing import ModelServer

PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "responses": "/v1/responses"}


def send(server: ModelServer, shape: str, body: Any, **headers: str) -> tuple[int, str]:
    """Post a body, and return the status and the text of the answer."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    request = urllib.request.Request(f"{server.url}{PATHS.get(shape, shape)}", raw, sent)  # noqa: S310 (loopback)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 (loopback)
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def post(server: ModelServer, shape: str, body: Any, **headers: str) -> tuple[int, Any]:
    """Post a body, and return the status and the answer."""
    status, text = send(server, shape, body, **headers)
    return status, json.loads(text)


def asked(server: ModelServer, shape: str, body: Any, **headers: str) -> Any:
    """Post a body that must be valid, and return the answer."""
    status, answer = post(server, shape, body, **headers)
    assert status == 200, answer
    return answer


def events(text: str) -> list[tuple[str | None, Any]]:
    """Read a stream of events: their names and data."""
    found = []
    for event in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in event.split("\n"))
        data = fields["data"]
        found.append((fields.get("event"), data if data == "[DONE]" else json.loads(data)))
    return found
