"""Programs that run another program, and the options that stand before what they run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from elision.shell_words import OPEN, Word, filled

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a program takes before its operands: single letters and long ones, with a value or without."""

    flags: str = ""
    valued: str = ""
    long_flags: frozenset[str] = field(default_factory=frozenset)
    long_valued: frozenset[str] = field(default_factory=frozenset)
    stops: str = ""
    """Letters of options that are operands for us: what they say matters."""

    def end(self, words: Sequence[Word], start: int) -> int | None:
        """Return the place of the first operand; nothing where an option is not known, or may be one."""
        place = start
        while place < len(words):
            word = words[place]
            if not word.literal and (word.many or not word.prefix):
                return None
            text = word.text
            if not text.startswith("-") or text == "-" or text[1] in self.stops:
                return place
            if text == "--":
                return place + 1
            taken = self._taken(text)
            if taken is None or not word.literal:
                return None
            place += taken
        return place

    def _taken(self, text: str) -> int | None:
        """Return how many words an option takes, its own included."""
        if text.startswith("--"):
            name, equals, _ = text.partition("=")
            if equals:
                return 1 if name in self.long_valued or name in self.long_flags else None
            return 2 if name in self.long_valued else 1 if name in self.long_flags else None
        for index, letter in enumerate(text[1:], 1):
            if letter in self.valued:
                return 2 if index == len(text) - 1 else 1
            if letter not in self.flags:
                return 2 if text in self.long_valued else None
        return 1


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that runs the rest of its words: how many operands stand before them, and whether assignments may."""

    options: Options = Options()
    operands: int = 0
    assignments: bool = False


_WRAPPERS: Mapping[str, Wrapper] = {
    "sudo": Wrapper(
        Options("AbEHnPSkKBN", "ughpCTUrtD", frozenset({"--preserve-env", "--set-home"}), frozenset({"--user"})),
        assignments=True,
    ),
    "doas": Wrapper(Options("n", "uC")),
    "env": Wrapper(Options("i0v", "uC", frozenset({"--ignore-environment"}), frozenset({"--unset"})), assignments=True),
    "command": Wrapper(Options("p")),
    "builtin": Wrapper(),
    "exec": Wrapper(Options("cl", "a")),
    "time": Wrapper(Options("pv", "f")),
    "timeout": Wrapper(
        Options("fpv", "ks", frozenset({"--foreground", "--preserve-status"}), frozenset({"--signal", "--kill-after"})),
        operands=1,
    ),
    "nohup": Wrapper(),
    "nice": Wrapper(Options("", "n")),
    "ionice": Wrapper(Options("t", "cn")),
    "stdbuf": Wrapper(Options("", "ioe")),
    "setsid": Wrapper(Options("cfw")),
    "unbuffer": Wrapper(Options("p")),
    "xargs": Wrapper(
        Options(
            "0rtpx",
            "nPILdasE",
            frozenset({"--null", "--no-run-if-empty"}),
            frozenset({"--max-args", "--max-procs", "--delimiter"}),
        )
    ),
}

_TOOL_WRAPPERS: Mapping[tuple[str, str], Options] = {
    ("uv", "run"): Options("q", "p", frozenset({"--no-sync", "--frozen"}), frozenset({"--with", "--extra", "--group"})),
    ("poetry", "run"): Options(),
    ("pipenv", "run"): Options(),
    ("pdm", "run"): Options(),
    ("hatch", "run"): Options(),
    ("bundle", "exec"): Options(),
    ("conda", "run"): Options("", "np", frozenset({"--no-capture-output"}), frozenset({"--name", "--prefix"})),
}

_BEFORE_SUBCOMMAND: Mapping[str, Options] = {
    "git": Options(
        "pP",
        "Cc",
        frozenset({"--no-pager", "--paginate", "--bare", "--no-optional-locks", "--literal-pathspecs"}),
        frozenset({"--git-dir", "--work-tree", "--namespace"}),
    ),
    "gh": Options("", "R", frozenset(), frozenset({"--repo"})),
    "docker": Options("D", "Hl", frozenset(), frozenset({"--host", "--context", "--log-level"})),
    "kubectl": Options("", "ns", frozenset(), frozenset({"--namespace", "--context", "--kubeconfig"})),
    "npm": Options("s", "C", frozenset({"--silent"}), frozenset({"--prefix"})),
    "pnpm": Options("rs", "CF", frozenset({"--silent", "--recursive"}), frozenset({"--filter", "--dir"})),
    "yarn": Options("s", "", frozenset({"--silent"}), frozenset({"--cwd"})),
    "cargo": Options("qv", "C", frozenset({"--quiet", "--verbose", "--offline", "--locked"}), frozenset({"--config"})),
    "make": Options(
        "skBwnj0123456789", "Cf", frozenset({"--no-print-directory", "--silent"}), frozenset({"--directory"})
    ),
    "aws": Options("", "", frozenset({"--no-cli-pager"}), frozenset({"--profile", "--region", "--output"})),
    "systemctl": Options("q", "", frozenset({"--no-pager", "--user"}), frozenset()),
    "python": Options("uBEIsSOqv", "WX", stops="cmVh"),
    "python3": Options("uBEIsSOqv", "WX", stops="cmVh"),
}
_QUERIES = {("command", "-v"), ("command", "-V")}
_REPLACES = re.compile(r"-[0rtpx]*I")
_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def script_of(argv: Sequence[Word]) -> Word | None:
    """Return the script that ``bash -c`` or ``eval`` runs."""
    if not argv or not argv[0].literal:
        return None
    name = argv[0].text.rpartition("/")[2]
    if name == "eval" and len(argv) > 1:
        literal = all(word.literal for word in argv[1:])
        return Word(" ".join(word.text for word in argv[1:]), literal=literal)
    if name not in SHELLS:
        return None
    for place, word in enumerate(argv[1:-1], 1):
        if not word.literal or not word.text.startswith("-") or word.text.startswith("--"):
            return None
        if word.text.endswith("c"):
            return argv[place + 1]
    return None


def taken_apart(argv: tuple[Word, ...]) -> tuple[tuple[Word, ...] | None, list[tuple[Word, ...]]]:
    """Return a command as it is known by its program, if it wraps none, and the commands that it runs.

    Options before a subcommand are taken away.
    """
    name = _program(argv)
    if name and name != argv[0].text:
        argv = (Word(name), *argv[1:])
    found = _unwrapped(argv, name)
    if found is not None and found != argv:
        return None, [found]
    return argv, [*_executed(argv)] if name == "find" else []


def _program(argv: Sequence[Word]) -> str:
    if not argv or not argv[0].literal:
        return ""
    folder, _, name = argv[0].text.rpartition("/")
    above, _, last = folder.rpartition("/")
    # What lies in a folder bin of a project is its own, whatever its name.
    shared = folder.startswith("/") or "env" in above.rpartition("/")[2]
    return name if shared and last in {"bin", "sbin"} else argv[0].text


def _unwrapped(argv: tuple[Word, ...], name: str) -> tuple[Word, ...] | None:
    if not name or len(argv) < 2:
        return None
    second = argv[1].text
    if (name, second) in _QUERIES:
        return None
    if (wrapper := _WRAPPERS.get(name)) is not None:
        return _fed(argv) if name == "xargs" else _after(argv, 1, wrapper)
    if (options := _TOOL_WRAPPERS.get((name, second))) is not None:
        return _after(argv, 2, Wrapper(options))
    if (options := _BEFORE_SUBCOMMAND.get(name)) is not None:
        end = options.end(argv, 1)
        sure = end is not None and argv[end - 1].text != "--" and not any(word.many for word in argv[1:end])
        return (argv[0], *argv[end:]) if sure else None
    return None


def _after(argv: tuple[Word, ...], start: int, wrapper: Wrapper) -> tuple[Word, ...] | None:
    end = wrapper.options.end(argv, start)
    if end is None:
        return None
    end += wrapper.operands
    while (
        wrapper.assignments and end < len(argv) and "=" in (argv[end].text if argv[end].literal else argv[end].prefix)
    ):
        end += 1
    return None if any(word.many for word in argv[start:end]) else argv[end:] or None


def _fed(argv: tuple[Word, ...]) -> tuple[Word, ...] | None:
    """Return the command that ``xargs`` runs, with the words of its input."""
    inner = _after(argv, 1, _WRAPPERS["xargs"])
    if inner is None:
        return None
    options = argv[1 : len(argv) - len(inner)]
    place = next((place for place, word in enumerate(options) if _REPLACES.match(word.text)), None)
    if place is None:
        return (*inner, OPEN)
    attached = options[place].text.partition("I")[2]
    mark = Word(attached) if attached else options[place + 1]
    return tuple(filled(word, mark.text) for word in inner) if mark.literal and mark.text else None


def _executed(argv: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    start: int | None = None
    for place, word in enumerate(argv):
        if word.text in _EXEC:
            start = place + 1
        elif start is not None and (word.text == ";" or (word.text == "+" and argv[place - 1].text == "{}")):
            yield from _with_paths(argv[start:place], several=word.text == "+")
            start = None
    if start is not None:
        yield from _with_paths(argv[start:], several=True)


def _with_paths(argv: tuple[Word, ...], *, several: bool) -> Iterator[tuple[Word, ...]]:
    """Yield a command with the paths that ``find`` puts for ``{}``, which never begin with a dash."""
    if argv:
        further = (OPEN,) if several else ()
        yield (*(filled(word, "{}", "./") for word in argv), *further)
