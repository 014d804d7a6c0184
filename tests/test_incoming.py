from __future__ import annotations

from typing import Any

import pytest

from elision import Chain, InputError, load

LOG = "a line of output\n" * 200


def responses_request() -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for number in range(12):
        call_id = f"call_{number}"
        items.append({"type": "function_call", "call_id": call_id, "name": "read_file", "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": call_id, "output": LOG})
    return {"model": "gpt-5.2", "instructions": "Be careful.", "input": items}


def test_a_request_of_the_responses_api_is_taken_as_it_is() -> None:
    request = responses_request()
    view = load("last_n_observations").process(request)

    assert view.dialect == "responses"
    assert len(view.messages) == len(request["input"])
    assert view.edits


def test_an_input_that_is_one_text_is_a_message_of_the_user() -> None:
    assert Chain([]).process({"input": "Hello."}).messages == [{"role": "user", "content": "Hello."}]


def test_a_request_of_gemini_is_taken_as_it_is() -> None:
    contents = [{"role": "user", "parts": [{"text": "Look."}]}]
    view = Chain([]).process({"contents": contents, "systemInstruction": {"parts": [{"text": "Be careful."}]}})

    assert view.dialect == "gemini"
    assert view.messages[0] is contents[0]


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_a_request_whose_history_the_provider_holds_is_refused_in_words(key: str) -> None:
    with pytest.raises(InputError, match=f"^request: by {key} the provider holds the history"):
        Chain([]).process({**responses_request(), key: "resp_1"})


@pytest.mark.parametrize("model", [5, ["gpt-4o"], {"name": "gpt-4o"}])
def test_a_model_that_is_no_text_is_an_error_in_words(model: Any) -> None:
    with pytest.raises(InputError, match="is no name; give the model's name as a text"):
        Chain([]).process([{"role": "user", "content": "Go."}], model=model)
