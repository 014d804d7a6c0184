"""What litellm makes of a request: run as a script, beside a server on this machine, with requests on stdin.

Each request has ``call`` (a name below) and its arguments; what comes out are the path, headers and body that litellm
sent, and the response that it gave back.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 5, "output_tokens": 1},
    "context_management": {
        "applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": 50_000}]
    },
}
RESPONSES = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": "gpt",
    "output": [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}],
    "usage": {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6},
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "temperature": 1,
    "top_p": 1,
}


class _Server(BaseHTTPRequestHandler):
    """Notes each request, and answers as the provider would."""

    taken: ClassVar[list[dict[str, Any]]] = []

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Take a request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.taken.append({"path": self.path, "body": body, "headers": headers})
        answer = json.dumps(RESPONSES if self.path.endswith("/responses") else ANTHROPIC).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def _converse(model: str, messages: list[Any], **params: Any) -> dict[str, Any]:
    """Return the body that goes to Bedrock's Converse; only sending it needs a network."""
    from litellm.llms.bedrock.chat.converse_transformation import AmazonConverseConfig

    config = AmazonConverseConfig()
    mapped = config.map_openai_params(params, {}, model, drop_params=False)
    return dict(config._transform_request(model, messages, mapped, {}, {}))


def _invoke(model: str, messages: list[Any], **params: Any) -> dict[str, Any]:
    """Return the body that goes to Bedrock's InvokeModel."""
    from litellm.llms.bedrock.messages.invoke_transformations.anthropic_claude_transformation import (
        AmazonAnthropicClaudeMessagesConfig,
    )
    from litellm.types.router import GenericLiteLLMParams

    config = AmazonAnthropicClaudeMessagesConfig()
    return dict(config.transform_anthropic_messages_request(model, messages, params, GenericLiteLLMParams(), {}))


_TRANSFORMED = {"converse": _converse, "invoke": _invoke}


def _run(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    import litellm

    litellm.suppress_debug_info = True
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    where = {"api_base": f"http://127.0.0.1:{server.server_port}", "api_key": "none"}
    found = []
    for request in requests:
        call, arguments = request.pop("call"), request
        if call in _TRANSFORMED:
            found.append({"body": _TRANSFORMED[call](**arguments)})
            continue
        if call == "anthropic_messages":
            response = asyncio.run(litellm.anthropic.messages.acreate(**arguments, **where))
        else:
            response = getattr(litellm, call)(**arguments, **where)
        plain = response.model_dump() if hasattr(response, "model_dump") else response
        found.append({**_Server.taken[-1], "response": plain})
    return found


if __name__ == "__main__":
    print(json.dumps(_run(json.load(sys.stdin)), default=str))
