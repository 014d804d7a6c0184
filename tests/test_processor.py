"""The base class of processors: what a class declares is checked when it is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import pytest

from elision import Chain, Edit, ElisionWarning, Processor, View


@pytest.mark.parametrize(
    ("trait", "value", "message"),
    [
        ("stage", "histry", r"Declared\.stage: there is no 'histry'; did you mean 'history'\?; correct it"),
        ("operation", "truncat", r"Declared\.operation: there is no 'truncat'; did you mean 'truncate'\?; correct it"),
        ("touches", frozenset({"tool"}), r"Declared\.touches: there is no 'tool'; known: assistant, system, user"),
    ],
)
def test_a_class_that_declares_what_does_not_exist_cannot_be_made(trait: str, value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        type(
            "Declared",
            (Processor,),
            {
                "__module__": __name__,
                "__annotations__": {trait: "ClassVar[Any]", "type": "Literal['declared']"},
                trait: value,
                "type": "declared",
            },
        )


def test_a_plan_that_forgets_to_yield_is_named() -> None:
    class Forgetful(Processor):
        stage: ClassVar[Literal["request"]] = "request"
        type: Literal["forgetful"] = "forgetful"

        def plan(self, view: View) -> Iterable[Edit]:
            view.observations  # noqa: B018 (nothing is given back)
            return None  # type: ignore[return-value]

    with pytest.warns(ElisionWarning, match=r"forgetful raised TypeError: plan gave None; it gives edits"):
        Chain([Forgetful()]).process([{"role": "user", "content": "x"}])


def test_a_processor_is_frozen_and_refuses_unknown_options() -> None:
    class Plain(Processor):
        type: Literal["plain"] = "plain"
        n: int = 1

        def plan(self, view: View) -> Iterable[Edit]:
            return ()

    with pytest.raises(ValueError, match="frozen"):
        Plain().n = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="Extra inputs are not permitted"):
        Plain(m=2)  # type: ignore[call-arg]
