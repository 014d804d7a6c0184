"""Templates that users write: what they can use, and what each mistake is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elision import ConfigError
from elision.placeholders import PlaceholderFacts, check_template, render_placeholder

FACTS = PlaceholderFacts(
    tool="grep",
    arguments={"pattern": "a|b", "path": "src"},
    text="src/a.py: a\nsrc/b.py: b",
    chars=4000,
    lines=90,
    images=0,
    classes=frozenset({"static", "docs"}),
    ref="3f9a1c0b77de",
    tool_offered=True,
    recall_tool="recall",
)


@pytest.mark.parametrize(
    ("arguments", "skill", "path"),
    [
        ({"path": "a.py", "file_path": "b.py"}, "", "a.py"),
        ({"file_path": "b.py"}, "", "b.py"),
        ({"filename": "c\n].py"}, "", "c ).py"),
        ({"path": 7, "filename": "c.py"}, "", "c.py"),
        ({"path": "a.py"}, "pdf/SKILL.md", "pdf/SKILL.md"),
        ({"pattern": "x"}, "", ""),
        ("ls a.py", "", ""),
        (None, "", ""),
    ],
)
def test_the_path_is_that_of_a_skill_or_else_what_the_call_names_so(arguments: Any, skill: str, path: str) -> None:
    facts = replace(FACTS, arguments=arguments, path=skill)

    assert render_placeholder("<{{ path }}>", facts) == f"<{path}>"


def refused(template: str) -> str:
    with pytest.raises(ConfigError) as caught:
        check_template(template)
    (problem,) = caught.value.problems

    assert "\n" not in str(problem)
    return str(problem)


@pytest.mark.parametrize("template", ["sweagent", "anthropic", "compact", "head", "json", "repeated", "stale"])
def test_what_ships_works_for_every_kind_of_result(template: str) -> None:
    check_template(template)

    assert render_placeholder(template, FACTS)


@pytest.mark.parametrize(
    ("template", "gives"),
    [
        ("[{{ tool }}: {{ lines }} lines gone; {{ recall }}]", "[grep: 90 lines gone; recall 3f9a1c0b77de]"),
        ("{{ call }}|{{ ref }}", 'grep(path="src", pattern="a|b")|3f9a1c0b77de'),
        ("{% if again %}{{ again }}{% else %}only {{ recall }}{% endif %}.", "only recall 3f9a1c0b77de."),
        (
            "{{ class }}:{% for name in classes %} {{ loop.index }} {{ name | upper }}{% endfor %}",
            "docs, static: 1 DOCS 2 STATIC",
        ),
        ("{{ chars // 1000 }}k {{ arguments.pattern | default('-') | json }}", '4k "a|b"'),
        ("{% if 'docs' in classes %}docs{% else %}other{% endif %} {{ head | truncate(9) }}.", "docs src/a.py…."),
        ("{{ arguments['path'] | default('.') }} {{ 'long' if lines > 50 else 'short' }}", "src long"),
        (
            "{{ fields.removed | json }} {{ head | replace('src/', '') ~ '.' }}",
            '{"chars": 4000, "lines": 90} a.py: a b.py: b.',
        ),
        ("first\nsecond {{ images }}", "first\nsecond 0"),
        ("{{ path }} gone", "src gone"),
        ("{{ arguments | join(', ') }}{% raw %} {{ ref }}{% endraw %}", "path, pattern {{ ref }}"),
    ],
)
def test_an_inline_template_says_what_it_is_told(template: str, gives: str) -> None:
    check_template(template)

    assert render_placeholder(template, FACTS) == gives


def test_an_unknown_name_is_told_the_nearest_and_that_a_text_can_stand_there() -> None:
    assert refused("compct") == (
        "templates: there is no placeholder template 'compct'; did you mean 'compact'?; "
        "give a name, or a text with {{ call }} in it"
    )


NOT_ALLOWED = "is not allowed in a placeholder; use variables, filters, 'if' and 'for'"


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ cal }}", "there is no variable 'cal'; did you mean 'call'?"),
        ("{{ call | uper }}", "there is no filter 'uper'; did you mean 'upper'?"),
        ("{{ call is sting }}", "there is no test 'sting'; did you mean 'string'?"),
        ("{{ arguments.path }}", "it cannot be rendered: 'path' is not there for every result; add | default('')"),
        ("{{ call.upper }}", "it cannot be rendered: 'upper' is not there for every result; add | default('')"),
        ("{{ head }}", "it gives no text for some results; say something in every case"),
        ("{% if images %}x{% endif %}", "it gives no text for some results; say something in every case"),
        ("{{ call.upper() }}", f"a call like f() {NOT_ALLOWED}"),
        ("{{ 1 / 0 }}", "it cannot be rendered: division by zero"),
        ("{% for c in call %}{{ loop }}{% endfor %}", "it shows a LoopContext, which is no text"),
        ("a{{ '\x00' }}", "it gives the character U+0000, which cannot be sent; leave it out"),
        ("{{ '\\ud800' }}", "it gives the character U+D800, which cannot be sent; leave it out"),
    ],
)
def test_a_mistake_in_a_template_is_one_line_that_says_what_to_do(template: str, problem: str) -> None:
    shown = template.replace("\x00", " ")

    assert refused(template) == f"template {shown}: {problem}"


@pytest.mark.parametrize("template", ["{{ call", "{% if call %}x", "{{ call }}{% endif %}", "x{{ }}", "\n\n{% for %}"])
def test_a_template_that_is_no_jinja_is_told_so(template: str) -> None:
    assert ": it cannot be read: " in refused(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'x' * 10**9 }}",
        "{{ [0] * 10**9 }}",
        "{{ '%1000000000d' % 5 }}",
        "{% set a = call %}{{ a }}",
        "{% macro m() %}{% endmacro %}x{{ m() }}",
        "{% for a in head %}{% for b in head %}{{ head }}{% endfor %}{% endfor %}",
        "{% include 'compact' %}",
        "{% import 'compact' as c %}",
        "{% extends 'compact' %}",
        "{% block b %}x{% endblock %}",
        "{% filter upper %}x{% endfilter %}",
        "{% with a = 1 %}x{% endwith %}",
        "{% call(x) m() %}{% endcall %}",
        "{{ call[:9] }}",
    ],
)
def test_what_could_grow_or_reach_out_is_not_allowed(template: str) -> None:
    assert " is not allowed in a placeholder; use " in refused(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ range }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ call.__init__ }}",
        "{{ arguments['__class__'] }}",
        "{{ arguments.items }}",
        "{{ self }}",
        "{{ call | attr('upper') }}",
        "{{ call | random }}",
        "{{ lipsum }}",
    ],
)
def test_nothing_but_the_facts_can_be_reached(template: str) -> None:
    assert refused(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a'" + " | replace('a', 'aaaaaaaaaa')" * 40 + " }}",
        "{{ call" + " | join('----------')" * 40 + " }}",
        "{{ '\"'" + " | json" * 40 + " }}",
        "{% for c in head %}" + "x" * 3000 + "{% endfor %}y",
        "{{ call }}" + "x" * 5000,
        "{{ " + "call ~ " * 190 + "'" + "y" * 2000 + "' }}",
    ],
)
def test_a_template_that_gives_too_much_is_refused_at_once(template: str) -> None:
    assert "4,000" in refused(template)


@pytest.mark.parametrize(
    "template", ["{{" + "(" * 1500 + "1" + ")" * 1500 + "}}", "{% if 1 %}" * 180 + "{% endif %}" * 180]
)
def test_a_template_that_is_nested_too_deeply_is_an_error_and_no_traceback(template: str) -> None:
    assert "it is nested too deeply" in refused(template)


def test_a_template_that_fails_at_run_time_is_the_same_error() -> None:
    with pytest.raises(ConfigError, match=r"^template \{\{ arguments.file \}\}: it cannot be rendered: 'file' is not"):
        render_placeholder("{{ arguments.file }}", FACTS)
