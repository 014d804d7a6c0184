"""What litellm says of itself when it is imported and first used is nothing for those who send a request."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import elision
from elision.testing import ModelServer

models = ("openai/gpt-4.1", "anthropic/claude-sonnet-4-5", "openai/responses/gpt-5")
for model in models:
    with ModelServer(["Done."]) as server:
        messages = [{"role": "user", "content": "Go."}]
        base = server.base_url("anthropic" if "claude" in model else "openai")
        tools = [elision.recall_tool_schema()]
        answer = elision.completion(model, messages, tools=tools, api_base=base, api_key="none")
        print(answer.choices[0].message.content)
"""


def test_a_script_that_sends_requests_prints_nothing_but_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("Done.\n" * 3, "")
