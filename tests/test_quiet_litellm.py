"""litellm is imported when a request is sent, and what it says of itself then is nothing for those who send it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys

import elision
from elision.testing import ModelServer

print("litellm" in sys.modules)
models = ("openai/gpt-4.1", "anthropic/claude-sonnet-4-5", "openai/responses/gpt-5")
for model in models:
    with ModelServer(["Done."]) as server:
        messages = [{"role": "user", "content": "Go."}]
        base = server.base_url("anthropic" if "claude" in model else "openai")
        tools = [elision.recall_tool_schema()]
        answer = elision.completion(model, messages, tools=tools, api_base=base, api_key="none")
        print(answer.choices[0].message.content)
"""


def test_litellm_is_imported_when_something_is_sent_and_prints_nothing_then_or_later() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("False\n" + "Done.\n" * 3, "")
