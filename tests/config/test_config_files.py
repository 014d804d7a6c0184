"""Where a chain is read from, and what is said of files that cannot be one."""

from __future__ import annotations

from pathlib import Path

import pytest
from comparable import comparable

import elision
from elision.config import lint_file, shipped_chains

SHIPPED = (
    "adk_like, anthropic_like, cache_control, complexity_trap, deepagents_like, default, last_n_observations, "
    "last_n_polling, newest_first_emergency, offline, openhands_like, provider_native, sweagent_default, "
    "turn_end, two_stage"
)


def _told(source: str | Path) -> str:
    with pytest.raises(elision.ConfigError) as caught:
        elision.load(source)
    assert [str(problem) for problem in lint_file(source)] == [str(caught.value)]
    return str(caught.value)


def test_a_chain_is_loaded_by_path(tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.write_bytes(b"\xef\xbb\xbfhistory_processors:\r\n  - type: default\r\n")

    assert [processor.type_name for processor in elision.load(file).processors] == ["default"]
    assert comparable(elision.load(str(file))) == comparable(elision.load(file))
    assert lint_file(file) == []


def test_a_shipped_chain_is_loaded_by_name_whatever_the_working_folder_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "default").mkdir()
    monkeypatch.chdir(tmp_path)

    assert [processor.type_name for processor in elision.load("default").processors] == [
        "slim_json",
        "offload",
        "truncate",
        "supersede",
        "clear_tool_results",
        "summarize",
        "budget",
        "cache_control",
    ]


def test_a_missing_file_names_the_nearest_shipped_chain(tmp_path: Path) -> None:
    assert _told("defalt") == (
        "defalt: there is no such file, and no shipped chain of that name; did you mean 'default'?"
    )
    assert _told(tmp_path / "none.yaml") == (
        f"{tmp_path}/none.yaml: there is no such file, and no shipped chain of that name; shipped chains: {SHIPPED}"
    )
    assert ", ".join(shipped_chains()) == SHIPPED


def test_a_missing_file_names_the_nearest_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("history_processors: []", encoding="utf-8")
    missing = tmp_path / "chan.yaml"

    assert _told(missing) == (
        f"{missing}: there is no such file, and no shipped chain of that name; did you mean '{tmp_path}/chain.yaml'?"
    )


def test_a_folder_is_not_a_chain(tmp_path: Path) -> None:
    assert _told(tmp_path) == f"{tmp_path}: this is a folder; name a file in it"


def test_a_config_of_200_mb_is_refused_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "big.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(200_000_000)

    assert _told(file) == (
        f"{file}: too large for a config (200,000,000 bytes); at most 1,000,000 bytes are read; "
        "give a chain as YAML, with 'history_processors:' at the top"
    )


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x00\xff\xfe", b"\x00abc"])
def test_a_binary_file_is_not_a_chain(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "chain.yaml"
    file.write_bytes(data)

    assert _told(file) == (
        f"{file}: this is a binary file; give a chain as YAML, with 'history_processors:' at the top"
    )


def test_a_file_in_another_encoding_is_located_at_its_first_wrong_byte(tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.write_bytes("history_processors: []\n# für später\n".encode("latin-1"))

    assert _told(file) == f"{file}:2:4: not a text file in UTF-8; save it as UTF-8"


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    file = tmp_path / ("a" * 300)

    assert _told(file) == f"{file}: it cannot be read (File name too long); name a readable file"


def test_yaml_in_place_of_a_path_is_sent_to_loads() -> None:
    assert _told("history_processors:\n- type: default\n") == (
        "<string>: this is YAML, not the path of a file; give it to loads"
    )


def test_an_empty_file_is_not_a_chain(tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.touch()

    assert _told(file) == (
        f"{file}:1:1: the file is empty; give a chain as YAML, with 'history_processors:' at the top"
    )
