"""Why a request is refused, in no provider's words yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Body: TypeAlias = Mapping[str, Any]
"""A request, as it came."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is not answered: the rule that it breaks, and what the provider says of it.

    ``kind`` is the type of error where it is not the one that goes with the status.
    """

    rule: str
    message: str
    status: int = 400
    param: str | None = None
    code: str | None = None
    kind: str | None = None
    retry_after: int | None = None


Refusals: TypeAlias = Iterator[Refused]


def anthropic_error(refused: Refused, number: int) -> dict[str, Any]:
    """Return the body of an error of Anthropic's."""
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    kind = refused.kind or kinds.get(refused.status, "api_error" if refused.status >= 500 else "invalid_request_error")
    error = {"type": kind, "message": refused.message}
    return {"type": "error", "error": error, "request_id": f"req_{number}"}


def openai_error(refused: Refused) -> dict[str, Any]:
    """Return the body of an error of OpenAI's."""
    kinds = {401: "authentication_error", 403: "permission_error", 429: "requests"}
    codes = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    kind = refused.kind or kinds.get(
        refused.status, "server_error" if refused.status >= 500 else "invalid_request_error"
    )
    code = refused.code or codes.get(refused.status)
    return {"error": {"message": refused.message, "type": kind, "param": refused.param, "code": code}}
