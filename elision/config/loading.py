"""Loading and linting chains: by path, by the name of a shipped one, or from text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elision.archive import open_archive
from elision.chain import Chain, PrepareError
from elision.config.check import Checked, check
from elision.config.problems import one_line, path_text, shown
from elision.config.shape import AGENT, ATTEMPTS
from elision.config.sources import text_of
from elision.errors import ConfigError, Problem

if TYPE_CHECKING:
    import yaml


def load(source: str | Path, *, attempt: int | None = None, archive: str | None = None) -> Chain:
    """Load a chain: the name of a shipped one, such as ``default``, or else the path of a YAML file.

    ``attempt`` says which chain to take, from 0, where a SWE-agent config with a retry agent has several; ``archive``
    is used instead of the chain's.
    """
    return loads(text_of(source), source=str(source), attempt=attempt, archive=archive)


def loads(text: str, *, source: str = "<string>", attempt: int | None = None, archive: str | None = None) -> Chain:
    """Load a chain from YAML text; ``source`` names it in messages."""
    if not isinstance(text, str):
        told = f"a chain is YAML text, this is of type {type(text).__name__}; give text, or a path to elision.load"
        raise ConfigError([Problem(source, 0, 0, "", told)])
    checked = check(text, source)
    errors = [problem for problem in checked.problems if problem.severity == "error"]
    if errors:
        raise ConfigError(errors)
    read = checked.chains[_chosen(checked, attempt)]
    placed, options = read.placed, read.options
    policy = options.stored_policy
    try:
        return Chain(
            [each.processor for each in placed],
            dialect=options.dialect,
            model=options.model,
            on_error=options.on_error,
            compat=options.compat,
            classification=options.classification,
            archive=options.archive if archive is None else open_archive(archive, stored=policy, environ={}),
            stored_policy=policy,
            owner=options.owner,
            schedule=options.schedule,
            profile=options.profile,
            mode=options.mode,
            share=options.share,
            on_bound_thinking=options.on_bound_thinking,
            tests=options.tests,
        )
    except PrepareError as error:
        failed = [(placed[index], told) for index, told in error.failures]
        raise ConfigError(_located(source, each.node, path_text(each.path), told) for each, told in failed) from None


def lint(text: str, source: str) -> list[Problem]:
    """Return all problems of a chain, errors first; code that the chain names is not run."""
    return list(check(text, source).problems)


def lint_file(path: str | Path) -> list[Problem]:
    """Return all problems of a chain: the name of a shipped one, or else the path of a YAML file."""
    try:
        text = text_of(path)
    except ConfigError as error:
        return list(error.problems)
    return lint(text, str(path))


def _chosen(checked: Checked, attempt: int | None) -> int:
    count = len(checked.chains)
    if attempt is not None and (isinstance(attempt, bool) or not isinstance(attempt, int)):
        told = f"attempt is {shown(attempt)}; it must be a whole number from 0 up, or None; correct it"
        raise ConfigError([Problem(checked.source, 0, 0, "attempt", told)])
    if attempt is None and count == 1:
        return 0
    if attempt is not None and 0 <= attempt < count:
        return attempt
    if count == 1:
        told = f"this config has one chain, so there is no attempt {attempt}; leave attempt out (--attempt)"
    else:
        wrong = "" if attempt is None else f", not {attempt}"
        choice = f"--attempt 0 {'or' if count == 2 else 'to'} --attempt {count - 1} (in Python attempt=)"
        told = f"this config has {count} chains, one for each attempt; choose {choice}{wrong}"
    raise ConfigError([_located(checked.source, checked.attempts, f"{AGENT}.{ATTEMPTS}", told)])


def _located(source: str, node: yaml.Node | None, path: str, message: str) -> Problem:
    if node is None:
        return Problem(source, 0, 0, "", message)
    return Problem(source, node.start_mark.line + 1, node.start_mark.column + 1, path, one_line(message))
