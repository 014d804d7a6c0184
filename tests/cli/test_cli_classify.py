from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from shared_data import shared

from elision.classification import lint_table, load_table


def messages(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        found.append({"role": "assistant", "content": "", "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": f"call_{number}", "content": "one two three"})
    return found


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / "history.json"
    calls = [
        ("read_file", {"path": "a.py"}),
        ("bash", {"command": "cd x && python deploy.py"}),
        ("getWidget", {"id": 1}),
        ("acme_frob", {"id": 1}),
    ]
    path.write_text(json.dumps(messages(*calls)), encoding="utf-8")
    return path


def test_each_observation_is_shown_with_classes_and_what_decided(run: Run, history: Path) -> None:
    result = run("classify", history)
    lines = [line for line in result.stdout.splitlines() if "bash" in line]

    assert result.exit_code == 0
    assert lines[0].split()[:4] == ["1", "bash", "static+unknown", "3"]
    assert "no rule for python deploy.py" in lines[0]
    assert (
        "unknown: 2 of 4 observations, 6 of 12 tokens (50.0 %); no processor may clear them; "
        "--suggest prints the rules to add" in result.stdout
    )


def test_the_rules_to_add_are_a_table_that_can_be_used(run: Run, history: Path, tmp_path: Path) -> None:
    result = run("classify", history, "--suggest")
    path = tmp_path / "mine.yaml"
    path.write_text(result.stdout, encoding="utf-8")
    again = run("classify", history, "--table", path)

    assert result.stdout == (
        "# Save this as FILE and write 'classification: FILE' in the chain; look at each rule before.\n"
        "extends: default\n"
        "rules:\n"
        "  # 1 observation, 3 tokens; static or dynamic if it only reads, receipt if it changes something\n"
        "  # - tool: acme_frob\n"
        "  #   class: …\n"
        "  # 1 observation, 3 tokens; it runs a program; write receipt if that changes something outside\n"
        "  - tool: bash\n"
        "    shell: {argument: command, commands: [python]}\n"
        "    class: dynamic\n"
    )
    assert lint_table(path) == []
    assert "unknown: 1 of 4 observations" in again.stdout
    assert "unknown: 2 of 4 observations" in result.stderr


def test_as_json_everything_is_there(run: Run, history: Path) -> None:
    data = json.loads(run("classify", history, "--json", "--suggest").stdout)
    (only,) = data["runs"]

    assert [each["classes"] for each in only["observations"]][:2] == [["static"], ["static", "unknown"]]
    assert only["observations"][0]["reasons"][0]["where"].startswith("default:")
    assert data["unknown"] == {"observations": 2, "tokens": 6}
    assert [each["class"] for each in data["suggestions"]] == ["…", "dynamic"]


def test_a_table_that_knows_everything_has_nothing_to_suggest(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(messages(("read_file", {"path": "a"}))), encoding="utf-8")
    result = run("classify", path, "--suggest")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "there is nothing to add" in result.stderr


def test_names_in_a_suggestion_are_taken_literally(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(messages(("[get] {x}*", {}), ("true", {}))), encoding="utf-8")
    result = run("classify", path, "--suggest")
    mine = tmp_path / "mine.yaml"
    mine.write_text(result.stdout.replace("# -", "-").replace("#   ", "  ").replace("…", "static"), encoding="utf-8")

    assert load_table(mine).rules[-1].classes == ("static",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--table", "sweagnt"), "did you mean 'sweagent'?"),
        (("--from", "opnai"), "did you mean 'openai'?"),
        (("--run", "3"), "there is no run 3"),
    ],
)
def test_wrong_options_are_one_line(run: Run, history: Path, arguments: tuple[str, ...], said: str) -> None:
    result = run("classify", history, *arguments)

    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["default", "sweagent", "mcp"])
def test_a_table_is_shown_with_its_classes_and_rules(run: Run, name: str) -> None:
    shown = run("show", "table", name)
    data = json.loads(run("show", "table", name, "--json").stdout)

    assert shown.exit_code == 0
    assert f"# table {name} (plugin builtin): " in shown.stdout
    assert list(data) == ["table"]
    assert data["table"]["classes"]["receipt"]["cells"]["clear"] == "never"
    assert len(data["table"]["rules"]) == len(load_table(name).rules)


def test_show_takes_a_kind_and_a_name_or_a_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: mcp\nrules: [{tool: x, class: static}]\n", encoding="utf-8")

    assert run("show", "a", "b", "c").exit_code == 2
    assert run("show", "chian", "default").exit_code == 2
    assert run("show", "table", "no-such-table").exit_code == 1
    assert "tool x" in run("show", "table", path).stdout


def test_lint_takes_tables_and_chains(run: Run, chain: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: mcp\nrules: [{tool: x, class: statik}]\n", encoding="utf-8")
    result = run("lint", chain, path, "mcp")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{chain}: no problems",
        f"{path}:2:26: rules[0].class: there is no class 'statik'; did you mean 'static'?",
        "mcp: no problems",
    ]


@pytest.mark.parametrize(("folder", "table"), [("sweagent", "sweagent"), ("miniswe", "miniswe"), ("openai", "default")])
def test_little_is_unknown_in_the_recorded_histories(run: Run, folder: str, table: str) -> None:
    data = json.loads(run("classify", shared("data", folder), "--table", table, "--json").stdout)

    assert data["unknown"]["tokens"] < 0.1 * data["all"]["tokens"]


def test_a_tool_that_rules_know_by_its_arguments_gets_no_class_for_all_its_calls(run: Run, tmp_path: Path) -> None:
    queries = ["UPDATE t SET a = 1"] * 3 + ["SELECT 1"] * 9
    base, path = tmp_path / "base.yaml", tmp_path / "history.json"
    base.write_text("rules: [{tool: query_shop, arguments: {sql: 'UPDATE*'}, class: receipt}]\n", encoding="utf-8")
    path.write_text(json.dumps(messages(*(("query_shop", {"sql": each}) for each in queries))), encoding="utf-8")
    result = run("classify", path, "--table", base, "--suggest")
    (rule,) = json.loads(run("classify", path, "--table", base, "--suggest", "--json").stdout)["suggestions"]
    mine = tmp_path / "mine.yaml"
    mine.write_text(result.stdout, encoding="utf-8")

    about = (
        "rules know other calls of query_shop by their arguments (receipt 3), so no class fits all its calls; "
        "add a rule with an 'arguments:' condition"
    )

    assert result.stdout.splitlines()[3:] == [
        f"  # 9 observations, 27 tokens; {about}",
        "  # - tool: query_shop",
        "  #   arguments: {…: {regex: …}}",
        "  #   class: …",
    ]
    assert (rule["class"], lint_table(mine)) == ("…", [])


def test_a_file_that_is_to_be_extended_is_not_to_be_overwritten(run: Run, history: Path, tmp_path: Path) -> None:
    path = tmp_path / "base.yaml"
    path.write_text("extends: default\n", encoding="utf-8")
    first, second, *_ = run("classify", history, "--table", path, "--suggest").stdout.splitlines()

    assert first == (
        f'# Add these rules to "{path}"; or save all this in the working directory as FILE, which must be another name '
        f"than \"{path}\", and write 'classification: FILE' in the chain. Look at each rule before."
    )
    assert second == f'extends: "{path}"'


def test_what_no_rule_knows_is_told_plainly_and_nothing_is_said_of_nothing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(json.dumps(messages(("acme_frob", {}))), encoding="utf-8")
    unknown = run("classify", path).stdout
    path.write_text(json.dumps(messages(("read_file", {"path": "a"}))), encoding="utf-8")

    assert "   unknown: no rule matches\n" in unknown
    assert run("classify", path).stdout.endswith("unknown: 0 of 1 observations, 0 of 3 tokens (0.0 %)\n")


def own_table(folder: Path) -> Path:
    """A chain with a table of its own, which knows one tool."""
    path = folder / "chain.yaml"
    path.write_text(
        "history_processors: [{type: last_n_observations, n: 2}]\n"
        "classification: {extends: default, rules: [{tool: acme_frob, class: dynamic}]}\n",
        encoding="utf-8",
    )
    return path


def test_the_table_of_a_chain_is_asked_and_what_it_lacks_is_to_be_added_there(
    run: Run, history: Path, tmp_path: Path
) -> None:
    chain = own_table(tmp_path)
    result = run("classify", history, "--chain", chain, "--suggest")

    assert result.exit_code == 0
    assert result.stdout == (
        f"# Add these rules to the table under 'classification:' in {chain}; look at each rule before.\n"
        "rules:\n"
        "  # 1 observation, 3 tokens; it runs a program; write receipt if that changes something outside\n"
        "  - tool: bash\n"
        "    shell: {argument: command, commands: [python]}\n"
        "    class: dynamic\n"
    )
    assert "unknown: 1 of 4 observations" in result.stderr


@pytest.mark.parametrize("table", ["sweagent", "file"])
def test_a_table_that_a_chain_names_is_asked_under_its_name(
    run: Run, history: Path, tmp_path: Path, table: str
) -> None:
    named = tmp_path / "mine.yaml"
    named.write_text("extends: default\nrules: [{tool: acme_frob, class: dynamic}]\n", encoding="utf-8")
    name = named if table == "file" else table
    chain = tmp_path / "chain.yaml"
    chain.write_text(f"history_processors: [{{type: redact}}]\nclassification: {name}\n", encoding="utf-8")

    assert (
        run("classify", history, "--chain", chain, "--suggest").stdout
        == run("classify", history, "--table", name, "--suggest").stdout
    )


def test_a_chain_that_ships_has_the_table_that_it_names(run: Run, history: Path) -> None:
    assert run("classify", history, "--chain", "default").stdout == run("classify", history).stdout


def test_a_chain_that_is_given_as_a_table_is_told_apart(run: Run, history: Path, tmp_path: Path) -> None:
    chain = own_table(tmp_path)
    for name in (chain, "turn_end"):
        result = run("classify", history, "--table", name)

        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"{name}: this is a chain, no table; give it with --chain\n"


def test_a_chain_without_a_table_and_both_options_at_once_are_refused(run: Run, history: Path, tmp_path: Path) -> None:
    chain = tmp_path / "chain.yaml"
    chain.write_text("history_processors: []\nclassification: none\n", encoding="utf-8")
    without = run("classify", history, "--chain", chain)
    both = run("classify", history, "--chain", chain, "--table", "default")

    assert without.stderr == (
        f"{chain}: it asks no table (classification: none), so nothing is unknown; name one with --table\n"
    )
    assert both.exit_code == 2
    assert "--table and --chain exclude each other; give one of them" in both.stderr
