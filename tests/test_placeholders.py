"""What a placeholder says: for each template and class, and for what the request offers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from doc_blocks import ROOT

from elision import registry
from elision.placeholders import PlaceholderFacts, is_placeholder, render_placeholder
from elision.placeholders.sandbox import _FILTERS, _TESTS
from elision.placeholders.templates import VARIABLES

PAGE = (ROOT / "docs" / "placeholders.md").read_text(encoding="utf-8")
REF = "3f9a1c0b77de"


def facts(
    tool: str = "read_file",
    arguments: Any = None,
    text: str = "one\ntwo",
    classes: tuple[str, ...] = (),
    **changes: Any,
) -> PlaceholderFacts:
    given: dict[str, Any] = {"chars": 12345, "lines": 300, "images": 0, "ref": REF}
    given |= {"tool_offered": True, "recall_tool": "recall", **changes}
    return PlaceholderFacts(tool=tool, arguments=arguments, text=text, classes=frozenset(classes), **given)


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].split("\n## ")[0]
    return [re.split(r" \| ", line.strip("| ")) for line in re.findall(r"^\| .*", section, re.M)][1:]


EXAMPLES = {cells[0].strip("`"): cells[1].strip("`") for cells in rows("Templates")}
WAYS = [pytest.param(*cells, id=" ".join(cells[:3])) for cells in rows("The way back")]


@pytest.mark.parametrize("template", EXAMPLES)
def test_a_template_gives_what_its_page_shows(template: str) -> None:
    text = "import os\n\ndef main():\n\tprint(os.getcwd())\n"
    result = facts(arguments={"path": "src/app.py"}, text=text, classes=("static",))

    assert render_placeholder(template, result) == EXAMPLES[template]


def test_every_template_that_ships_is_on_the_page() -> None:
    shipped = {
        name
        for name in registry.plugins().templates()
        if registry.plugins().owner("elision_templates", name) == "builtin"
    }

    assert set(EXAMPLES) == shipped


@pytest.mark.parametrize(("classes", "tool_offered", "recall_offered", "says"), WAYS)
def test_the_way_back_is_what_the_page_says(classes: str, tool_offered: str, recall_offered: str, says: str) -> None:
    result = facts(
        classes=tuple(re.findall(r"`(\w+)`", classes)),
        tool_offered=tool_offered == "yes",
        recall_tool="recall" if recall_offered == "yes" else "",
    )

    assert render_placeholder("compact", result).endswith(f"; {says.strip('`')}]")


def test_every_variable_filter_and_test_is_on_the_page() -> None:
    named = {name for cells in rows("Templates of your own") for name in re.findall(r"`(\w+)`", cells[0])}

    assert named == set(VARIABLES)
    assert f"Filters: {', '.join(f'`{name}`' for name in sorted(_FILTERS))}." in PAGE
    assert f"Tests: {', '.join(f'`{name}`' for name in _TESTS)}." in PAGE


@pytest.mark.parametrize("template", ["compact", "head", "json"])
@pytest.mark.parametrize("classes", [(), ("unknown",), ("dynamic",), ("dynamic", "static"), ("error", "static")])
@pytest.mark.parametrize("recall_tool", ["", "recall"])
def test_only_a_static_result_says_that_the_call_fetches_it(
    template: str, classes: tuple[str, ...], recall_tool: str
) -> None:
    said = render_placeholder(template, facts(classes=classes, recall_tool=recall_tool))

    assert "call it again" not in said
    assert "same" not in said


@pytest.mark.parametrize("template", ["compact", "head", "json", "{{ again }}.{{ way_back }}"])
@pytest.mark.parametrize("others", [(), ("error",), ("static",), ("skill",), ("unknown",)])
@pytest.mark.parametrize("recall_tool", ["", "recall"])
def test_a_write_is_never_to_be_called_again(template: str, others: tuple[str, ...], recall_tool: str) -> None:
    said = render_placeholder(template, facts("create_issue", classes=("receipt", *others), recall_tool=recall_tool))

    assert "again" not in said
    assert REF in said


def test_a_skill_is_named_with_its_version_and_path() -> None:
    result = facts("skill", {"name": "pdf"}, classes=("skill",), version="1.2.0", path="skills/pdf/SKILL.md")

    assert render_placeholder("compact", result) == (
        '[skill(name="pdf"): 12345 chars, 300 lines removed; skill "skills/pdf/SKILL.md", version "1.2.0"; '
        "call it again to reload it, or recall 3f9a1c0b77de for this version]"
    )
    assert json.loads(render_placeholder("json", result))["skill"] == {
        "path": "skills/pdf/SKILL.md",
        "version": "1.2.0",
    }


def test_a_path_that_the_call_shows_is_not_said_twice() -> None:
    result = facts(arguments={"path": "pdf/SKILL.md"}, classes=("skill",), path="pdf/SKILL.md", tool_offered=False)

    assert render_placeholder("compact", result) == (
        '[read_file(path="pdf/SKILL.md"): 12345 chars, 300 lines removed; skill; recall 3f9a1c0b77de]'
    )


def test_the_recall_tool_is_named_as_the_request_names_it() -> None:
    said = render_placeholder("compact", facts(classes=("dynamic",), recall_tool="mcp__elision__recall"))

    assert said == "[read_file(): 12345 chars, 300 lines removed; mcp__elision__recall 3f9a1c0b77de]"


def test_a_result_without_a_call_is_an_output_that_cannot_be_called_again() -> None:
    said = render_placeholder("compact", facts("", classes=("static",), recall_tool=""))

    assert said == "[output: 12345 chars, 300 lines removed; ref 3f9a1c0b77de]"


@pytest.mark.parametrize(
    ("counts", "size"),
    [
        ({"chars": 1, "lines": 1}, "1 char"),
        ({"chars": 0, "lines": 0, "images": 1}, "1 image"),
        ({"chars": 90, "lines": 2, "images": 3}, "90 chars, 2 lines, 3 images"),
        ({"chars": 0, "lines": 0}, "0 chars"),
    ],
)
def test_the_size_names_what_there_was(counts: dict[str, int], size: str) -> None:
    assert render_placeholder("compact", facts(**counts)) == f"[read_file(): {size} removed; recall 3f9a1c0b77de]"


def test_without_an_archive_no_ref_and_no_recall_are_promised() -> None:
    queried = facts(ref="", classes=("dynamic",))

    assert render_placeholder("compact", queried).endswith("; calling it again may give something else]")
    assert render_placeholder("compact", facts(ref="")).endswith("lines removed]")
    assert render_placeholder("compact", facts(ref="", tool_offered=False)).endswith("lines removed]")


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\u200b"])
@pytest.mark.parametrize("head_chars", [0, 200])
def test_a_head_that_would_be_blank_is_left_out(text: str, head_chars: int) -> None:
    result = facts(text=text)

    assert render_placeholder("head", result, head_chars=head_chars) == render_placeholder("compact", result)


def test_the_head_is_as_long_as_asked_and_flat() -> None:
    said = render_placeholder("head", facts(text="one\n\n  two\tthree four"), head_chars=10)

    assert said.endswith('; it began: "one two t…"]')


def test_sweagent_s_sentence_is_known_and_no_other() -> None:
    said = [
        render_placeholder(name, facts(images=images))
        for name in ("sweagent", "anthropic", "compact")
        for images in (0, 2)
    ]

    assert said[:2] == [
        "Old environment output: (300 lines omitted)",
        "Old environment output: (300 lines omitted) (2 images omitted)",
    ]
    assert [is_placeholder(text) for text in said] == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    "call",
    [
        ("read_file", {"path": "src/package/module/file_name.py", "start": 1, "end": 200}),
        ("bash", {"command": "cd /repo && python -m pytest -q tests/test_everything.py -k 'not slow' 2>&1 | tail -50"}),
        ("mcp__github__search_issues", {"query": "is:open label:bug", "page": 3}),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py", "old_str": "x" * 900, "new_str": "y" * 900}),
    ],
)
@pytest.mark.parametrize("recall_tool", ["", "recall"])
def test_a_compact_placeholder_of_a_usual_call_has_at_most_160_characters(
    call: tuple[str, Any], recall_tool: str
) -> None:
    assert len(render_placeholder("compact", facts(*call, classes=("static",), recall_tool=recall_tool))) <= 160
