"""The views of recorded histories under a chain."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from elision.chain import Chain
from elision.convert import convert, parsed
from elision.dialect import Dialect, by_name, detect, named
from elision.documents import MAX_BYTES, Run, parse_document, read_runs, runs_in
from elision.errors import InputError
from elision.message import texts_of
from elision.registry import plugins
from elision.report import SentView
from elision.session import ElisionWarning
from elision.tokens import count_text

STDIN = "-"
SUFFIXES = (".json", ".jsonl", ".traj")
"""How the names of recorded histories end."""


class WrongInputsError(InputError):
    """Inputs that hold no history; ``lines`` has one for each."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded run: where it was found, its number there, and its dialect."""

    source: str
    number: int
    run: Run
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Gathered:
    """The runs found in inputs; ``skipped`` has a line for each file of a folder that should hold one and does not."""

    runs: tuple[Recorded, ...]
    skipped: tuple[str, ...]
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A view in another dialect: as it is mended for that wire, what had no place there, and what stands beside it."""

    view: SentView
    lost: tuple[str, ...]
    system: str | None

    def summary(self) -> dict[str, Any]:
        """Return the figures of what was written as plain data."""
        view, system = self.view, self.system
        return {
            "dialect": view.dialect,
            "messages": len(view.messages),
            "characters": count_characters(view.messages, by_name(plugins().dialects(), view.dialect)),
            "tokens": view.tokens.after,
            "repairs": dict(Counter(repair.fault for repair in view.repairs)),
            "system": None if system is None else _size(system, view.model),
        }


@dataclass(frozen=True, slots=True)
class Applied:
    """The view of one recorded run, and what was written where that is in another dialect."""

    recorded: Recorded
    view: SentView
    written: Written | None = None

    @property
    def messages(self) -> list[Any]:
        """The messages in the dialect that was asked for."""
        return (self.written or self).view.messages

    @property
    def characters(self) -> tuple[int, int]:
        """Characters of text before and after the chain, in the run's own dialect."""
        dialect = self.recorded.dialect
        return count_characters(self.view.history, dialect), count_characters(self.view.decided, dialect)

    def summary(self) -> dict[str, Any]:
        """Return the figures of the run as plain data."""
        view, characters = self.view, self.characters
        return {
            "input": self.recorded.source,
            "run": self.recorded.number,
            "dialect": view.dialect,
            "model": view.model,
            "live": view.live,
            "messages": {"before": len(view.history), "after": len(view.decided)},
            "characters": {"before": characters[0], "after": characters[1]},
            "tokens": view.tokens._asdict(),
            "edits": dict(Counter(edit.processor for edit in view.edits)),
            "refusals": dict(Counter(refusal.processor for refusal in view.refusals)),
            "repairs": dict(Counter(repair.fault for repair in view.repairs)),
            "failures": [asdict(failure) for failure in view.failures],
            "pending": len(view.pending),
            "unknown": view.unknown._asdict(),
            "note": view.note,
            "lost": list(self.written.lost) if self.written else [],
            "written": self.written.summary() if self.written else None,
        }

    def report(self) -> dict[str, Any]:
        """Return the figures with every edit, refusal, failure, repair and pending call."""
        return {**self.summary(), **self.view.as_dict(), "system": self.written.system if self.written else None}


def gather(
    inputs: Iterable[str],
    *,
    number: int | None = None,
    every: bool = False,
    dialect: str | None = None,
    stdin: IO[bytes] | None = None,
) -> Gathered:
    """Find the runs in files, folders and (``-``) the standard input.

    ``number`` picks one run of each file, ``every`` takes all; a file with several runs needs one of them.  What is
    wrong with an input that was named is an error, all of them in one; in a folder it is a line in ``skipped``, and
    one line counts the files whose names are not those of histories.
    """
    runs: list[Recorded] = []
    skipped: list[str] = []
    wrong: list[str] = []
    files: list[Path] = []
    for name in inputs:
        folder = name != STDIN and os.path.isdir(name)
        before, strangers = len(runs), 0
        for path in _files(Path(name)) if folder else [Path(name)]:
            try:
                found = runs_in(_read(stdin), STDIN) if name == STDIN else read_runs(path)
                source = name if name == STDIN else str(path)
                runs.extend(_chosen(found, source, number, dialect, every=every))
                files.append(path)
            except InputError as error:
                if folder and path.suffix not in SUFFIXES:
                    strangers += 1
                else:
                    (skipped if folder else wrong).append(str(error))
        if strangers:
            skipped.append(f"{name}: files that hold no history and are not {', '.join(SUFFIXES)}: {strangers:,}")
        if folder and len(runs) == before:
            wrong.append(f"{name}: no file in this folder is a history; name one that is, or its dialect with --from")
    if wrong:
        raise WrongInputsError([*skipped, *wrong])
    return Gathered(tuple(runs), tuple(skipped), tuple(files))


def apply(chain: Chain, recorded: Recorded, *, target: str | None = None, model: str | None = None) -> Applied:
    """Return the view of a recorded run; ``target`` names the dialect to write it in, if not its own."""
    run, dialect = recorded.run, recorded.dialect
    with warnings.catch_warnings():
        # What failed is in the view, and is reported with it.
        warnings.simplefilter("ignore", ElisionWarning)
        view = chain.process(
            run.messages, system=run.system, tools=run.tools, model=model or run.model, dialect=dialect.name
        )
    if target is None or target == dialect.name:
        return Applied(recorded, view)
    other = by_name(plugins().dialects(), target)
    converted = convert(view.messages, dialect, other, system=run.system)
    # A file dialect is not mended for the wire; its conversion is, by a chain that does nothing else.
    nothing = Chain(classification=None, archive="none")
    mended = nothing.process(converted.messages, dialect=other.name, model=view.model)
    return Applied(recorded, view, Written(mended, converted.lost, converted.system))


def count_characters(messages: Iterable[Any], dialect: Dialect) -> int:
    """Count the characters of text in messages, those of tool results included."""
    return sum(len(text) for message in parsed(messages, dialect).messages for text in texts_of(message.parts))


def _size(text: str, model: str | None) -> dict[str, int]:
    return {"characters": len(text), "tokens": count_text(text, model)}


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and the folders in it, in the order of their names; hidden ones are left out."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


def _read(stdin: IO[bytes] | None) -> Any:
    data = stdin.read(MAX_BYTES + 1) if stdin is not None else b""
    if len(data) > MAX_BYTES:
        raise InputError(f"{STDIN}: more than {MAX_BYTES:,} bytes on the standard input; split it")
    return parse_document(data, STDIN)


def _chosen(
    found: Sequence[Run], source: str, number: int | None, dialect: str | None, *, every: bool
) -> list[Recorded]:
    numbers = range(len(found))
    if number is not None:
        if number >= len(found):
            raise InputError(f"{source}: there is no run {number}; it has {len(found)}, counted from 0")
        numbers = range(number, number + 1)
    elif len(found) > 1 and not every:
        raise InputError(f"{source}: {len(found)} runs; choose one with --run 0 to {len(found) - 1}, or take --all")
    return [Recorded(source, index, found[index], _dialect(found[index], source, dialect)) for index in numbers]


def _dialect(run: Run, source: str, name: str | None) -> Dialect:
    known = plugins().dialects()
    try:
        if name is not None:
            return named(known, name, run.messages, run.document)
        return detect(known, run.messages, run.document)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
