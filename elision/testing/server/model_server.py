"""The server: HTTP on the loopback device, for the time of a test."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from elision.own_values import load_own, own_profile
from elision.profiles import Profile, profile_for
from elision.testing.server.answering import SHAPES, Answer, Answering, Invalid
from elision.testing.server.refused import Refused
from elision.testing.server.script import Reply, Script, WireShape
from elision.testing.server.usage import Usage

MAX_BODY_BYTES = 32_000_000
"""Longest request that Anthropic takes, and that is read."""


class ModelServer:
    """A model of a provider on 127.0.0.1, from ``with`` to the end of its block.

    ``script`` is a list of answers, or a function of a request; without one each answer is ``ok``.  ``profile`` has
    values of your own, such as a small window: what :func:`elision.profiles.profile_for` takes.  ``clock`` says the
    time in seconds by which entries of the cache age.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        profile: str | Path | Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self._own = load_own(profile)
        self._answering = Answering((lambda _: Reply(("ok",))) if script is None else script, self._own, clock)
        self.max_body_bytes = max_body_bytes
        self._lock = RLock()  # a script may look at the server that it answers for
        self._closing = Event()
        self._http: ThreadingHTTPServer | None = None
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        if self._closing.is_set() or self._http is not None:
            raise RuntimeError("ModelServer: a server runs once; make a new one")
        handler = type("Handler", (_Handler,), {"model": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()
            self._http = None

    @property
    def url(self) -> str:
        """The address of the server."""
        if self._http is None:
            raise RuntimeError("ModelServer: it is not running; use it in a with block")
        return f"http://127.0.0.1:{self._http.server_port}"

    def base_url(self, shape: WireShape) -> str:
        """Return the address that a client of a protocol is given; OpenAI's end in ``/v1``, Anthropic's do not."""
        return self.url if shape == "anthropic" else f"{self.url}/v1"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all requests so far, those that were refused included."""
        with self._lock:
            return list(self._answering.requests)

    @property
    def usage(self) -> list[Usage]:
        """What each answered request used."""
        with self._lock:
            return list(self._answering.usage)

    @property
    def invalid(self) -> list[Invalid]:
        """What was refused, and why."""
        with self._lock:
            return list(self._answering.invalid)

    def cost(self, profile: Profile | None = None) -> float:
        """Return the price of all answered requests in dollars: by one profile, or by that of each one's model.

        Where prices are not known, only the ratio of two such figures means something.
        """
        with own_profile(self._own):
            return sum(each.cost(profile or profile_for(each.model)) for each in self.usage)

    def answer(self, path: str, headers: dict[str, str], raw: bytes | None) -> Answer:
        """Answer a request; without a body it was too long, or of no known length."""
        with self._lock:
            if raw is not None:
                return self._answering.answer(path, headers, raw)
            told = (
                f"Request exceeds the maximum allowed number of bytes ({self.max_body_bytes}), or has no Content-Length"
            )
            shape = SHAPES.get(path, SHAPES["/v1/messages"])
            return self._answering.refuse(shape, Refused("body", told, 413), known=False)

    def wait(self, seconds: float) -> bool:
        """Wait as long as the script says; whether the server is still there then."""
        return not self._closing.wait(seconds)


class _Handler(BaseHTTPRequestHandler):
    """Reads requests, and writes answers; each connection carries one."""

    model: ClassVar[ModelServer]
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self) -> None:
        """Answer a request."""
        self.close_connection = True
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            body = self._body(headers.get("content-length", ""))
        except ConnectionError:
            return
        answer = self.model.answer(urlsplit(self.path).path, headers, body)
        if (not answer.delay_seconds or self.model.wait(answer.delay_seconds)) and answer.status:
            self._write(answer)

    def _body(self, length: str) -> bytes | None:
        """Read a body; one that is too long goes by unkept, so that its sender comes to read the answer."""
        size = int(length) if length.isdecimal() and len(length) < 12 else 0
        if size <= self.model.max_body_bytes:
            return self._whole(size) if length else None
        while size > 0 and (piece := self.rfile.read(min(size, 1 << 16))):
            size -= len(piece)
        return None

    def _whole(self, size: int) -> bytes:
        body = self.rfile.read(size)
        if len(body) < size:
            raise ConnectionResetError("the sender is gone in the middle of its request")
        return body

    def do_GET(self) -> None:
        """Say that there is nothing."""
        self.close_connection = True
        self._write(self.model.answer(f"GET {self.path}", {}, b"{}"))

    def _write(self, answer: Answer) -> None:
        body = None if answer.events is not None else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Connection", "close")
        if answer.retry_after is not None:
            self.send_header("Retry-After", str(answer.retry_after))
        self.send_header("Content-Type", "text/event-stream" if body is None else "application/json")
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        try:
            self.end_headers()
            for piece in _streamed(answer) if body is None else (body,):
                self.wfile.write(piece)
        except (BrokenPipeError, ConnectionResetError):
            return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is http.server's)
        """Say nothing."""


def _streamed(answer: Answer) -> Iterator[bytes]:
    for name, data in answer.events or ():
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
