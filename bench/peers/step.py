"""A step elsewhere: ``step.py sweagent|langchain|openhands HISTORY.json LAST`` prints its median in seconds."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Messages = list[dict[str, Any]]


def sweagent() -> Callable[[Messages], object]:
    """SWE-agent's ``last_n_observations`` of 5 and ``cache_control``, on items of its own shape."""
    from sweagent.agent.history_processors import (  # type: ignore[import-not-found]
        CacheControlHistoryProcessor,
        LastNObservations,
    )

    chain = [LastNObservations(n=5), CacheControlHistoryProcessor()]

    def item(message: dict[str, Any]) -> dict[str, Any]:
        kinds = {"system": "system_prompt", "assistant": "action"}
        return {**message, "message_type": kinds.get(message["role"], "observation"), "agent": "main"}

    known: dict[int, dict[str, Any]] = {}

    def step(messages: Messages) -> object:
        view: Any = [known.setdefault(id(message), item(message)) for message in messages]
        start = time.process_time()
        for processor in chain:
            view = processor(view)
        return time.process_time() - start

    return step


def langchain() -> Callable[[Messages], object]:
    """LangChain's context editing: trigger 100,000 tokens, keep 3, with tiktoken as its counter."""
    import copy

    import tiktoken
    from langchain.agents.middleware import ClearToolUsesEdit  # type: ignore[import-not-found]
    from langchain_core.messages import convert_to_messages  # type: ignore[import-not-found]

    encoding = tiktoken.get_encoding("o200k_base")
    edit = ClearToolUsesEdit()
    known: dict[int, Any] = {}

    def count(messages: Any) -> int:
        return sum(len(encoding.encode_ordinary(str(message.content))) for message in messages)

    def step(messages: Messages) -> object:
        for message in messages:
            if id(message) not in known:
                known[id(message)] = convert_to_messages([message])[0]
        given = [known[id(message)] for message in messages]
        start = time.process_time()
        edit.apply(copy.deepcopy(given), count_tokens=count)
        return time.process_time() - start

    return step


def openhands() -> Callable[[Messages], object]:
    """OpenHands' condenser (SDK), which counts the tokens of its view to see whether it has to act; it never has to."""
    from openhands.sdk import LLM  # type: ignore[import-not-found]
    from openhands.sdk.context.condenser import LLMSummarizingCondenser  # type: ignore[import-not-found]
    from openhands.sdk.context.view import View  # type: ignore[import-not-found]
    from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent  # type: ignore[import-not-found]
    from openhands.sdk.llm import Message, MessageToolCall, TextContent  # type: ignore[import-not-found]
    from openhands.sdk.tool import Observation  # type: ignore[import-not-found]

    class Output(Observation):  # type: ignore[misc]
        """A result."""

    llm = LLM(model="gpt-4.1", api_key="unused")
    condenser = LLMSummarizingCondenser(llm=llm, max_size=10**6, max_tokens=10**9)
    known: dict[int, Any] = {}
    actions: dict[str, str] = {}

    def event(message: dict[str, Any]) -> Any:
        text = TextContent(text=message["content"])
        if message["role"] == "assistant":
            call = message["tool_calls"][0]
            function = call["function"]
            said = MessageToolCall(
                id=call["id"], name=function["name"], arguments=function["arguments"], origin="completion"
            )
            made = ActionEvent(
                thought=[text],
                tool_name=function["name"],
                tool_call_id=call["id"],
                tool_call=said,
                llm_response_id=call["id"],
            )
            actions[call["id"]] = made.id
            return made
        if message["role"] == "tool":
            found = message["tool_call_id"]
            return ObservationEvent(
                tool_name="read_file",
                tool_call_id=found,
                action_id=actions[found],
                observation=Output(content=[text]),
            )
        return MessageEvent(source="user", llm_message=Message(role="user", content=[text]))

    view = View()

    def step(messages: Messages) -> object:
        for message in messages:
            if id(message) not in known:
                known[id(message)] = event(message)
                view.append_event(known[id(message)])
        start = time.process_time()
        condenser.condense(view, agent_llm=llm)
        return time.process_time() - start

    return step


def main() -> int:
    """Print the median of the last steps."""
    name, path, last = sys.argv[1:]
    history = json.loads(Path(path).read_text(encoding="utf-8"))
    step = {"sweagent": sweagent, "langchain": langchain, "openhands": openhands}[name]()
    stops = range(len(history) - 2 * int(last) + 2, len(history) + 1, 2)
    print(statistics.median(step(history[:stop]) for stop in stops))
    return 0


if __name__ == "__main__":
    sys.exit(main())
