"""Sending requests through litellm, with a chain of history processors before each of them.

litellm is imported here and nowhere else, when something is sent for the first time.
"""

from __future__ import annotations

from elision.transport.calling import acompletion, completion
from elision.transport.usage import Usage

__all__ = ["Usage", "acompletion", "completion"]
