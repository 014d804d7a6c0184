"""A scripted model server for tests: three protocols, the checks of real providers, and their caches.

It listens on the loopback device only, and answers with the error texts, status codes and usage of the provider whose
model is asked for.
"""

from __future__ import annotations

from elision.testing.server.answering import Invalid
from elision.testing.server.model_server import ModelServer
from elision.testing.server.script import Asked, Failure, Reply, Script, WireShape, failure, reply
from elision.testing.server.usage import Usage

__all__ = ["Asked", "Failure", "Invalid", "ModelServer", "Reply", "Script", "Usage", "WireShape", "failure", "reply"]
