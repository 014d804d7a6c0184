"""``image_limit``: the newest images of results stay, a note stands where older ones were."""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from typing import Any

import pytest
from table_runs import begun, step_by_step

import elision
from elision.testing import Conversation, Shape, call, check_processor, image, result


def shot(*names: str, tool: str = "screenshot") -> tuple[Any, Any]:
    return call(tool), result("seen", *(image(picture(name)) for name in names))


def picture(name: str) -> str:
    return f"data:image/png;base64,{name * 2048}"


def chain(options: str, more: str = "") -> elision.Chain:
    return elision.loads(f"history_processors: [{{type: image_limit, schedule: every_step, {options}}}]\n{more}")


def left(run: Conversation, options: str, more: str = "") -> str:
    """Return the names of the images that are still in the view."""
    text = repr(chain(options, more).process(run.messages(), dialect=run.dialect).messages)
    return "".join(name for name in "abcdefghijklmnopqrstuvwxyz" if name * 2048 in text)


@pytest.mark.parametrize(("keep", "stay"), [(0, "e"), (1, "e"), (2, "de"), (4, "bcde"), (9, "abcde")])
def test_the_newest_images_stay_and_so_do_those_of_the_newest_step(keep: int, stay: str) -> None:
    run = begun()
    for name in "abcde":
        run = run.step(*shot(name))

    assert left(run, f"keep_images: {keep}") == stay


def test_of_a_result_with_several_images_the_oldest_go() -> None:
    run = begun().step(*shot("a", "b", "c")).step(*shot("d"))

    assert left(run, "keep_images: 2") == "cd"
    assert left(run, "keep_images: 3") == "bcd"


@pytest.mark.parametrize("shape", ["openai", "anthropic", "responses", "gemini"])
def test_a_note_stands_in_the_place_of_the_image_and_the_text_stays(shape: Shape) -> None:
    run = begun(shape).step(*shot("a")).step(*shot("b"))
    view = chain("keep_images: 1").process(run.messages(), dialect=run.dialect)
    (edit,) = view.edits
    text = repr(view.messages[edit.position])

    assert "seen" in text
    assert f"[image removed: image/png, 1 KB; ref {edit.ref}]" in text


def test_without_a_number_the_limit_of_the_model_holds_and_the_users_images_count() -> None:
    run = begun("anthropic").user(image(picture("z")))
    for number in range(120):
        run = run.step(*shot("x" if number else "a"))
    view = chain("", "model: claude-3-5-sonnet-20241022").process(run.messages())

    assert view.model == "claude-3-5-sonnet-20241022"
    assert repr(view.messages).count("'type': 'image'") == 100
    assert left(run, "", "model: claude-3-5-sonnet-20241022") == "xz"
    assert chain("", "model: gpt-4o").process(run.messages()).edits == ()


def sized(width: int, height: int) -> str:
    """Return a picture whose header gives a size."""
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return f"data:image/png;base64,{base64.b64encode(header + bytes(40)).decode()}"


SMALL, LARGE = sized(800, 600), sized(1200, 2001)
CLAUDE = "model: claude-sonnet-4-5"


def shots(pictures: list[str], options: str = "", more: str = CLAUDE, user: str = "") -> list[str]:
    """Return which of the pictures still stand when each was the result of a step, and one more step has come."""
    run = begun("anthropic").user("Compare it with this.", image(user)) if user else begun("anthropic")
    for each in pictures:
        run = run.step(call("screenshot"), result("seen", image(each)))
    run = run.step(call("read_file", path="a"), result("b"))
    made = elision.loads(f"history_processors: [{{type: image_limit{options}}}]\n{more}", archive="memory:")
    views = step_by_step(made, run)
    return re.findall(r"'data': '([^']+)'", repr(views[-1].messages))


def data(*pictures: str) -> list[str]:
    return [each.partition(",")[2] for each in pictures]


def test_with_a_large_image_only_as_few_stay_as_the_provider_takes_then() -> None:
    assert shots([SMALL] * 25) == data(*[SMALL] * 25)
    assert shots([SMALL] * 20 + [LARGE]) == data(*[SMALL] * 19, LARGE)
    assert shots([SMALL] * 25 + [LARGE] * 2) == data(*[SMALL] * 18, *[LARGE] * 2)
    assert shots([SMALL] * 8 + [LARGE] + [SMALL] * 11) == data(*[SMALL] * 8, LARGE, *[SMALL] * 11)


def test_where_the_large_one_is_old_it_goes_and_all_behind_it_stay() -> None:
    assert shots([SMALL] * 3 + [LARGE] + [SMALL] * 30) == data(*[SMALL] * 30)


def test_a_large_image_of_the_user_stays_and_those_of_results_go() -> None:
    assert shots([SMALL] * 30, user=LARGE) == data(LARGE, *[SMALL] * 19)


def test_a_number_of_ones_own_does_not_make_a_request_that_is_refused() -> None:
    found = shots([SMALL] * 30 + [LARGE], ", keep_images: 28, schedule: every_step")

    assert found == data(*[SMALL] * 19, LARGE)


def test_other_models_take_large_images_and_those_at_an_address_count_as_small() -> None:
    address = "https://example.org/a.png"

    assert shots([SMALL] * 25 + [LARGE], more="model: gpt-4o") == data(*[SMALL] * 25, LARGE)
    assert len(shots([SMALL] * 25 + [address])) == 25


def test_what_the_provider_would_refuse_does_not_wait_for_the_chains_schedule() -> None:
    made = elision.loads(f"history_processors: [{{type: image_limit}}]\n{CLAUDE}\nschedule: {{polling: 50}}")

    assert not made.processors[0].waits
    assert elision.processor_types()["image_limit"](keep_images=3).waits


def test_the_size_of_base64_counts() -> None:
    run = begun().step(*shot("a")).step(*shot("b")).step(*shot("c"))
    one = len(picture("a"))

    assert left(run, f"max_total_bytes: {3 * one}") == "abc"
    assert left(run, f"max_total_bytes: {3 * one - 1}") == "bc"
    assert left(run, f"max_total_bytes: {one}") == "c"


def test_images_that_the_table_keeps_stay_and_count_for_the_limit_of_the_request_only() -> None:
    run = begun().step(*shot("a", tool="create_chart")).step(*shot("b")).step(*shot("c")).step(*shot("d"))

    assert left(run, "keep_images: 2") == "acd"
    assert left(run, f"max_total_bytes: {2 * len(picture('a'))}") == "ad"


def test_a_result_that_the_table_keeps_is_offered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Any] = []
    made = elision.Observation.replace
    monkeypatch.setattr(elision.Observation, "replace", lambda self, *a, **k: offered.append(1) or made(self, *a, **k))
    run = begun()
    for _ in range(40):
        run = run.step(*shot("a", tool="create_chart"))
    view = chain("keep_images: 1").process(run.messages())

    assert (len(view.edits), len(offered)) == (0, 39)


def test_an_image_by_url_goes_too() -> None:
    run = begun().step(call("screenshot"), result(image("https://example.org/a.png"))).step(*shot("b"))
    view = chain("keep_images: 1").process(run.messages())

    assert view.messages[3]["content"] == f"[image removed; ref {view.edits[0].ref}]"


def test_a_session_gives_the_views_of_fresh_processes_and_removal_waits_for_the_schedule() -> None:
    run = begun()
    for name in "abcdefgh":
        run = run.step(*shot(name, name))
    views = step_by_step(
        elision.loads("history_processors: [{type: image_limit, keep_images: 3, schedule: {polling: 3}}]"), run
    )

    rounds = sorted({len(view.edits) for view in views})

    assert rounds[0] == 0
    assert min(after - before for before, after in pairwise(rounds)) >= 2


@pytest.mark.parametrize("options", [{"keep_images": 1}, {"max_total_bytes": 50}])
def test_it_keeps_the_contract(options: dict[str, int]) -> None:
    check_processor(elision.processor_types()["image_limit"], max_examples=5, **options, schedule="every_step")


def test_where_only_images_went_the_note_does_not_say_that_nothing_was_removed() -> None:
    run = begun("openai").step(*shot("a")).step(*shot("b", tool="frobnicate")).step(*shot("c"))
    view = chain("keep_images: 0").process(run.messages())

    assert [edit.processor for edit in view.edits] == ["image_limit"]
    assert not view.held_up_by_unknown
    assert "nothing" not in view.note
    assert "frobnicate" in view.note
