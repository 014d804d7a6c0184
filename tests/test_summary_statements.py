"""What a summary keeps word for word: what is ruled out, excepted or not so, in whatever language it is said."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from summary_runs import BODY, begun, chain, last, reads, seen, summaries, texts

import elision
from elision.summaries.statements import STATEMENT_CHARS, rules_in, stated_in
from elision.summaries.wording import laid_down_in, missing
from elision.testing import Conversation, call, result

SAID = [
    "Never touch the release branch.",
    "Avoid v1 of the format.",
    "Only hotfix/9 is excepted.",
    "It wasn't the cache.",
    "The port is not 8080.",
    "Leave config.py alone.",
    "Do not use e.g. Foo in tests.",
    "You must not use\nthe old API, unless\nv2 is set.",
    "Never:\n- touch the release branch\n- push tags",
    "Niemals den Release-Branch anfassen.",
    "Die Tabelle darf keine Lücken haben.",
    "Ne touchez jamais la branche release.",
    "Nunca toques la rama, salvo para v2.1.",
    "Não apague o arquivo.",
    "Non toccare il ramo, tranne per v2.",
    "Raak de tak nooit aan.",
    "Никогда не трогай ветку release.",
    "不要修改发布分支。",
    "リリースブランチには触らないでください。",
    "릴리스 브랜치를 절대 건드리지 마세요.",
    "لا تلمس فرع الإصدار أبدا.",
    "रिलीज़ शाखा को कभी न छुएं।",
]


def in_a_session(made: elision.Chain, run: Conversation) -> list[elision.SentView]:
    messages = run.messages()
    with made.session() as session:
        return [session.process(messages[:stop]) for stop in range(2, len(messages) + 1, 2)]


@pytest.mark.parametrize("said", SAID)
def test_what_is_ruled_out_excepted_or_not_so_is_found_as_it_was_said(said: str) -> None:
    assert stated_in(f"I look at the loader. {said} Then I go on.") == [said] or stated_in(
        f"I look at the loader.\n\n{said}\n\nThen I go on."
    ) == [said]


@pytest.mark.parametrize(
    "said", ["I look at a.py.", "The tests pass.\nI go on.", "", "\n\n", "Ich sehe mir das an.", "好的。"]
)
def test_what_says_nothing_of_the_kind_is_not_kept(said: str) -> None:
    assert stated_in(said) == []


def test_of_a_long_sentence_what_stands_around_the_word_is_kept() -> None:
    said = f"{'so ' * 300}never touch the release branch {'and ' * 300}"
    (kept,) = stated_in(said)

    assert "never touch the release branch" in kept
    assert len(kept) <= STATEMENT_CHARS + 80
    assert kept in said


def test_of_too_much_the_rules_are_kept_first() -> None:
    said = (
        "".join(f"It was not the cache of shard {number}. " for number in range(999))
        + "Never touch the release branch."
    )

    assert stated_in(said, 4000)[-1] == "Never touch the release branch."
    assert len("".join(stated_in(said, 4000))) <= 4000


def test_a_200_kb_assistant_message_is_bounded_in_a_summary() -> None:
    book = "It was not the cache, see src/deep/a%d.py. " * 4000 % tuple(range(4000))
    run = begun().step(f"{book} Never touch v1.", call("read_file", path="a.py"), result(BODY))
    view = in_a_session(chain("trigger_steps: 8, keep_first_steps: 0, keep_last_steps: 2"), reads(run, 2, 12))[-1]
    (text, *_) = summaries(view)

    assert "Never touch v1." in text
    assert len(text) < 20_000


@pytest.mark.parametrize(
    "said",
    [
        "You must never rebase main.",
        "You may touch the release branch once, for tag v2.1 only.",
        "The flaky test test_io is not to be skipped.",
        "Migrations run only after the DBA has said yes.",
        "Der Release-Zweig darf nicht verändert werden.",
    ],
)
@pytest.mark.parametrize("place", [3, 7])
def test_what_a_result_lays_down_in_its_middle_survives_three_summaries_word_for_word(said: str, place: int) -> None:
    run = reads(begun(), 1, place - 1)
    run = run.step("I look.", call("read_file", path="notes"), result(f"{BODY}{said}\n{BODY}"))
    view = last(chain("trigger_steps: 8, keep_last_steps: 2, keep_first_steps: 0"), reads(run, place + 1, 34))

    assert len(summaries(view)) >= 3
    assert said in seen(view)


@pytest.mark.parametrize(
    "line",
    [
        "except ValueError:",
        "    except (KeyError, TypeError) as e:",
        "Exception: boom",
        "file not found",
        "Only in a: x",
    ],
)
def test_what_tools_print_lays_nothing_down(line: str) -> None:
    assert laid_down_in(f"first\n{line}\nlast") == []


def test_what_is_merely_not_so_is_no_rule() -> None:
    assert rules_in("It was not the cache. Do not clear it.") == ["Do not clear it."]


@pytest.mark.parametrize(
    ("fact", "text", "there"),
    [
        ("ABC-12", "ABC-123 is done", False),
        ("ABC-12", "ABC-12, ABC-123", True),
        ("src/a.py", "see lib/src/a.py", False),
        ("src/a.py", "see src/a.pyc", False),
        ("src/a.py", "it is src/a.py.", True),
        ("#12", "#123", False),
        ("1f2e3d4", "1f2e3d4c5b", False),
        ("Never push", "Never pushing was asked", False),
        ("不要修改", "请不要修改发布分支", True),
    ],
)
def test_a_fact_that_is_part_of_a_longer_name_is_missing(fact: str, text: str, there: bool) -> None:
    assert missing([fact], text) == ([] if there else [fact])


@pytest.mark.parametrize("more", ["", "summarizer: call, target: 'summary_models:good'"])
def test_all_of_it_survives_ten_summaries_word_for_word(more: str) -> None:
    run = begun(task="Mend it.")
    for number, said in enumerate(SAID):
        run = run.step(said, call("read_file", path=f"w{number}.py"), result(BODY))
    run = run.step("I look.", call("read_file", path="notes"), result(f"{BODY}You must never rebase main.\n{BODY}"))
    sizes = "max_tokens: 500, max_total_tokens: 900"
    views = in_a_session(
        chain(", ".join(filter(None, ["trigger_steps: 9, keep_last_steps: 2", sizes, more]))), reads(run, 30, 75)
    )
    rounds = [view for before, view in pairwise(views) if summaries(before) != summaries(view)]
    found = "\n".join(texts(views[-1]))

    assert len(rounds) >= 10
    assert [said for said in SAID if said not in found] == []
    assert "You must never rebase main." in found


TIGHT: dict[str, Any] = {
    "trigger_tokens: 3000, keep_last_steps: 2": "",
    "trigger_tokens: 3000": "",
    "window_left_share: 0.5, keep_last_steps: 2": "profile: {window: {input_tokens: 6000}}",
    "trigger_messages: 12, keep_last_steps: 5, keep_first_steps: 0": "",
}


@pytest.mark.parametrize("options", TIGHT)
def test_a_limit_that_summaries_and_what_stays_reach_by_themselves_is_no_break_at_every_step(options: str) -> None:
    views = [view.messages for view in in_a_session(chain(options, TIGHT[options]), reads(begun(), 1, 60))]
    breaks = [number for number, (before, view) in enumerate(pairwise(views)) if view[: len(before)] != before]

    assert 5 < len(breaks) <= 36
    assert len(str(views[-1])) < len(str(reads(begun(), 1, 60).messages())) / 4
