"""``dedupe``: of several equal results only the newest stays, and every other placeholder names its content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from guarded import planned
from table_runs import LONG, begun, read, step_by_step

import elision
from elision import open_archive, recall
from elision.testing import Conversation, call, check_processor, image, result

OTHER = LONG.upper()
PICTURE = "data:image/png;base64," + "iVBORw0K" * 60


def chain(options: str = "", archive: Any = None, table: str = "default") -> elision.Chain:
    dedupe = elision.processor_types()["dedupe"](**{"schedule": "every_step", **elision_options(options)})
    return elision.Chain([dedupe], archive=archive or open_archive("memory:", environ={}), classification=table)


def elision_options(text: str) -> dict[str, Any]:
    return {key: int(value) for key, _, value in (part.partition("=") for part in text.split())}


def elided(run: Conversation, options: str = "", **more: Any) -> list[str]:
    return [edit.call_id for edit in chain(options, **more).process(run.messages(), dialect=run.dialect).edits]


def test_the_newest_of_equal_results_stays() -> None:
    run = begun().step(*read("a")).step(*read("b")).step(*read("x", OTHER)).step(*read("c"))

    assert elided(run) == ["call_1", "call_2"]


def test_results_that_differ_in_one_character_stay() -> None:
    run = begun().step(*read("a")).step(*read("b", LONG + " ")).step(*read("c", LONG[:-1]))

    assert elided(run) == []


def test_results_shorter_than_the_minimum_stay() -> None:
    run = begun().step(*read("a")).step(*read("b")).step(*read("c", OTHER))

    assert elided(run, f"min_chars={len(LONG) + 1}") == []
    assert elided(run, f"min_chars={len(LONG)}") == ["call_1"]


def test_the_placeholder_names_the_ref_of_the_content() -> None:
    archive = open_archive("memory:", environ={})
    view = chain(archive=archive).process(begun().step(*read("a")).step(*read("b")).messages())
    (edit,) = view.edits
    placeholder = view.messages[edit.position]["content"]

    assert (
        placeholder
        == f'[read_file(path="a"): 405 chars, 9 lines removed; a later result says the same; ref {edit.ref}]'
    )
    assert recall(edit.ref, archive=archive).text == LONG


def test_equal_results_of_one_step_go_one_step_later() -> None:
    run = begun().step(*read("a"), *read("b"))

    assert elided(run) == []
    assert elided(run.step(*read("c", OTHER))) == ["call_1"]


def test_equal_images_count_and_different_ones_do_not() -> None:
    def shot(name: str, picture: str) -> Conversation:
        return begun().step(call("screenshot"), result(image(PICTURE))).step(call(name), result(image(picture)))

    assert elided(shot("screenshot", PICTURE).step(*read("x"))) == ["call_1"]
    assert elided(shot("screenshot", PICTURE[:-1] + "A").step(*read("x"))) == []


def test_a_copy_that_the_table_keeps_stays_and_is_offered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Any] = []
    made = elision.Observation.elide
    monkeypatch.setattr(elision.Observation, "elide", lambda self, *a, **k: offered.append(1) or made(self, *a, **k))
    run = begun()
    for number in range(60):
        run = run.step(call("write_file", path=f"{number}"), result(LONG))

    assert elided(run) == []
    assert len(offered) == 59


def bash_cleared_first() -> elision.Chain:
    def plan(view: elision.View) -> Iterator[elision.Edit]:
        for observation in view.older_observations(0):
            if observation.call is not None and observation.call.name == "bash":
                yield observation.elide()

    dedupe = elision.processor_types()["dedupe"](schedule="every_step")
    return elision.Chain([planned(plan, stage="history"), dedupe])


def test_a_copy_stays_while_the_newer_one_does_not_stand() -> None:
    run = begun().step(*read("a"), call("bash", command="cat b"), result(LONG)).step(*read("c", OTHER))
    view = bash_cleared_first().process(run.messages())

    assert [(edit.processor, edit.call_id) for edit in view.edits] == [("planned", "call_2")]


def test_when_a_third_copy_comes_in_the_one_that_stayed_goes() -> None:
    run = begun().step(*read("a"), call("bash", command="cat b"), result(LONG)).step(*read("c", OTHER))
    view = bash_cleared_first().process(run.step(*read("d")).step(*read("e", OTHER + "!")).messages())

    assert [(edit.processor, edit.call_id) for edit in view.edits] == [("planned", "call_2"), ("dedupe", "call_1")]


def test_a_session_gives_the_views_of_fresh_processes() -> None:
    run = begun()
    for number in range(6):
        run = run.step(*read("a", LONG if number % 2 else OTHER), *read("b"))
    views = step_by_step(chain(), run)

    assert len(views[-1].edits) == 9


def test_it_keeps_the_contract() -> None:
    check_processor(elision.processor_types()["dedupe"], max_examples=5, min_chars=1, schedule="every_step")
