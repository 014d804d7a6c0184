"""A chain inside the real mini-swe-agent, whose model is scripted."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import elision

# litellm builds a model with such a field when it first sends something.
pytestmark = pytest.mark.filterwarnings("ignore:Items? .* using the `ReadOnly` qualifier:UserWarning")

CLEAR = [{"type": "last_n_observations", "n": 3}]
SILENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "MSWEA_SILENT_STARTUP": "1"}
FINISH = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


class Script:
    """A provider of litellm that gives the same shell commands on each run, and keeps what it was sent."""

    def __init__(self, commands: Sequence[str], *, fenced: bool = False) -> None:
        self.commands = commands
        self.fenced = fenced
        self.sent: list[list[dict[str, Any]]] = []

    def answer(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        self.sent.append(copy.deepcopy(messages))
        turn = sum(message["role"] == "assistant" for message in messages)
        command = self.commands[turn]
        if self.fenced:
            return {"role": "assistant", "content": f"Next.\n```mswea_bash_command\n{command}\n```"}
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        return {
            "role": "assistant",
            "content": "Next.",
            "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": function}],
        }


Provide = Callable[[Script], str]


@pytest.fixture
def provide(miniswe: Any, monkeypatch: pytest.MonkeyPatch) -> Provide:
    """Return a function that registers a script with litellm and returns the model's name."""
    import litellm

    def register(script: Script) -> str:
        class Provider(litellm.CustomLLM):
            def completion(self, *args: Any, **kwargs: Any) -> Any:
                choice = {"finish_reason": "stop", "index": 0, "message": script.answer(kwargs["messages"])}
                return litellm.ModelResponse(choices=[choice])

        monkeypatch.setattr(litellm, "custom_provider_map", [{"provider": "scripted", "custom_handler": Provider()}])
        return "scripted/model"

    return register


def run(model: Any, folder: Path) -> Any:
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment

    agent = DefaultAgent(
        model,
        LocalEnvironment(cwd=str(folder)),
        system_template="You are an agent.",
        instance_template="{{task}}",
        output_path=folder / "run.traj.json",
    )
    agent.run("Count.")
    return agent


def outputs(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in messages if message["role"] == "tool"]


def counting(steps: int) -> list[str]:
    return [*(f"seq {step} {step + 40}" for step in range(steps)), FINISH]


def from_yaml(model_name: str, **options: Any) -> Any:
    from minisweagent.models import get_model

    model_class = "elision.plugins.hosts.miniswe.ElisionModel"
    return get_model(
        config={"model_class": model_class, "model_name": model_name, "cost_tracking": "ignore_errors", **options}
    )


def test_the_view_is_sent_and_the_stored_trajectory_stays_whole(provide: Provide, tmp_path: Path) -> None:
    script = Script(counting(14))
    agent = run(from_yaml(provide(script), history_processors=CLEAR), tmp_path)
    stored = json.loads((tmp_path / "run.traj.json").read_text(encoding="utf-8"))
    last = outputs(script.sent[-1])
    whole = outputs(stored["messages"])

    assert [len(outputs(sent)) for sent in script.sent] == list(range(15))
    assert all("lines removed" in message["content"] for message in last[:-3])
    assert [message["content"] for message in last[-3:]] == [message["content"] for message in whole[-3:]]
    assert len(whole) == 14
    assert all(f"\n{step + 40}\n" in message["content"] for step, message in enumerate(whole))
    assert stored["messages"] == agent.messages
    assert stored["info"]["exit_status"] == "Submitted"
    assert stored["info"]["config"]["model"]["history_processors"] == CLEAR


def test_a_stored_trajectory_reads_back_and_gives_the_view_that_was_sent(provide: Provide, tmp_path: Path) -> None:
    script = Script(counting(12))
    run(from_yaml(provide(script), history_processors=CLEAR), tmp_path)
    messages = json.loads((tmp_path / "run.traj.json").read_text(encoding="utf-8"))["messages"]
    chain = elision.loads(json.dumps({"history_processors": CLEAR}))
    view = chain.process(messages[: len(script.sent[-1])])

    assert view.dialect == "miniswe"
    assert [message["content"] for message in view.messages] == [message["content"] for message in script.sent[-1]]


def test_the_same_model_begins_anew_with_the_next_task(provide: Provide, tmp_path: Path) -> None:
    script = Script(counting(12))
    model = from_yaml(provide(script), history_processors=CLEAR)
    run(model, tmp_path)
    first = script.sent.copy()
    script.sent.clear()
    run(model, tmp_path)

    assert [outputs(sent) for sent in script.sent] == [outputs(sent) for sent in first]


def test_a_chain_can_be_a_file_or_a_python_object(miniswe: Any, provide: Provide, tmp_path: Path) -> None:
    path = tmp_path / "chain.yaml"
    path.write_text(json.dumps({"history_processors": CLEAR}), encoding="utf-8")
    sent = []
    for chain in (str(path), elision.load(path)):
        script = Script(counting(6))
        run(from_yaml(provide(script), chain=str(path)), tmp_path)
        run(miniswe.ElisionModel(model_name="scripted/model", cost_tracking="ignore_errors", chain=chain), tmp_path)
        sent.append([outputs(messages) for messages in script.sent])

    assert sent[0] == sent[1]
    assert "lines removed" in sent[0][6][0]["content"]


def test_the_cache_mark_of_mini_swe_agent_is_set_on_the_view(provide: Provide, tmp_path: Path) -> None:
    script = Script(counting(6))
    run(from_yaml(provide(script), history_processors=CLEAR, set_cache_control="default_end"), tmp_path)
    stored = json.loads((tmp_path / "run.traj.json").read_text(encoding="utf-8"))

    assert ["cache_control" in message for message in script.sent[-1]] == [False] * 13 + [True]
    assert "cache_control" not in json.dumps(stored["messages"])


def test_text_based_model_classes_take_the_mixin(miniswe: Any, provide: Provide, tmp_path: Path) -> None:
    from minisweagent.models.litellm_textbased_model import LitellmTextbasedModel

    class Textbased(miniswe.ElisionMixin, LitellmTextbasedModel):  # type: ignore[misc]
        pass

    script = Script(counting(12), fenced=True)
    name = provide(script)
    run(Textbased(model_name=name, cost_tracking="ignore_errors", history_processors=CLEAR), tmp_path)
    stored = json.loads((tmp_path / "run.traj.json").read_text(encoding="utf-8"))
    omitted = ["lines removed" in message["content"] for message in script.sent[-1] if message["role"] == "user"]

    assert omitted == [False] + [True] * 9 + [False] * 3
    assert "lines removed" not in json.dumps(stored["messages"])


def refused(model_name: str = "scripted/model", **options: Any) -> str:
    with pytest.raises(elision.ElisionError) as caught:
        from_yaml(model_name, **options)
    return str(caught.value)


def test_a_misspelt_option_names_the_nearest_one(miniswe: Any) -> None:
    assert refused(chian="default") == (
        "mini-swe-agent: model.chian: there is no option 'chian'; did you mean 'chain'?; correct or remove it"
    )
    assert "model.history_processors[0].nn" in refused(history_processors=[{"type": "last_n_observations", "nn": 3}])


def test_options_of_the_wrong_shape_are_named(miniswe: Any) -> None:
    assert refused(chain=CLEAR).startswith("mini-swe-agent: model.chain: a list; it is a path or a shipped name")
    assert refused(history_processors=["default"]).startswith("mini-swe-agent: model.history_processors[0]: ")
    assert refused(history_processors="default").startswith("mini-swe-agent: model.history_processors: ")


def test_a_chain_is_given_once(miniswe: Any) -> None:
    told = "mini-swe-agent: model: give either chain (a path or a shipped name) or history_processors (a list)"

    assert refused() == told
    assert refused(chain="default", history_processors=CLEAR) == told


def test_two_owners_of_cache_breakpoints_are_an_error(miniswe: Any) -> None:
    chain = [{"type": "cache_control"}]
    by_itself = refused("anthropic/claude-sonnet-4-5", history_processors=chain)
    owned = from_yaml("anthropic/claude-sonnet-4-5", history_processors=chain, set_cache_control=None)

    assert by_itself.startswith("mini-swe-agent: model.set_cache_control: ")
    assert owned.config.set_cache_control is None


def test_a_model_class_that_would_never_run_the_chain_is_refused(miniswe: Any) -> None:
    from minisweagent.models.test_models import DeterministicModel

    class Deterministic(miniswe.ElisionMixin, DeterministicModel):  # type: ignore[misc]
        pass

    with pytest.raises(elision.ElisionError, match="no _prepare_messages_for_api, so no chain would run"):
        Deterministic(outputs=[], history_processors=CLEAR)


def test_without_mini_swe_agent_one_line_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "minisweagent.py").write_text("", encoding="utf-8")
    code = """
import elision
try:
    import elision.plugins.hosts.miniswe
except elision.ElisionError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | SILENT, capture_output=True, text=True, check=False
    )

    assert done.stdout.startswith("miniswe: mini-swe-agent cannot be imported")
    assert done.stdout.endswith("install it with: pip install 'elision[miniswe]'\n")


def test_messages_of_the_responses_api_are_refused_and_not_tried_again(
    miniswe: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from minisweagent.models.litellm_response_model import LitellmResponseModel

    class Response(dict[str, Any]):
        @property
        def output(self) -> Any:
            return self["output"]

    class Responses(miniswe.ElisionMixin, LitellmResponseModel):  # type: ignore[misc]
        asked = 0

        def _prepare_messages_for_api(self, messages: list[dict[str, Any]]) -> Any:
            self.asked += 1
            return super()._prepare_messages_for_api(messages)

        def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
            call = {"type": "function_call", "call_id": "a", "name": "bash", "arguments": '{"command": "ls"}'}
            return Response(object="response", output=[call])

    monkeypatch.setenv("MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT", "2")
    model = Responses(model_name="scripted/model", cost_tracking="ignore_errors", history_processors=CLEAR)
    with pytest.raises(elision.InputError, match="use a model class of chat completions"):
        run(model, tmp_path)

    assert model.asked == 2
