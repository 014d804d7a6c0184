"""A chain: history processors in the order of the YAML, and how they are run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from elision.errors import ConfigError, ElisionError, InputError, Problem
from elision.handover import Target, problems_of
from elision.moment import OnBoundThinking
from elision.own_values import OwnProfile, load_own, own_profile
from elision.processor import Processor
from elision.report import SentView
from elision.session import Session
from elision.shadow import Mode, live_share
from elision.windows import names_by_window

if TYPE_CHECKING:
    from elision.archive import Archive
    from elision.classification import Table
    from elision.config.options import ChainOptions
    from elision.config.tests_block import ChainTest
    from elision.redaction import Policy
    from elision.schedule import Schedule


_AS_IN_A_FILE = (
    "dialect",
    "model",
    "on_error",
    "compat",
    "classification",
    "archive",
    "stored_policy",
    "owner",
    "on_bound_thinking",
    "profile",
    "mode",
    "share",
)
"""Options that are checked as those of a chain file are."""


class PrepareError(ConfigError, ValueError):
    """Processors that cannot be prepared: ``failures`` has the index of each and what is wrong."""

    def __init__(self, failures: Sequence[tuple[int, str]]) -> None:
        self.failures = tuple(failures)
        super().__init__(Problem("chain", 0, 0, f"processors[{index}]", told) for index, told in failures)


@dataclass(frozen=True)
class Chain:
    """History processors that run one after the other.

    ``dialect`` is ``auto`` or a dialect's name; ``model`` is for counting where the request names none; ``on_error``
    says what happens when a processor raises: ``skip`` sends the request without its new edits, ``raise`` is for tests.
    ``compat: sweagent`` gives SWE-agent's own seven processors SWE-agent's own bytes.  ``classification`` is the table
    that is asked about every edit: a name, a path, its content, a :class:`Table`, or ``none``.  ``archive`` is where
    originals go (``none``: nothing may be removed), ``stored_policy`` what is kept of them.  ``owner`` says who manages
    the context where a request asks its provider to.  ``schedule`` says when processors that rewrite the cached prefix
    do so, all together.  ``on_bound_thinking`` says what happens where an edit would change what the model's thinking
    is bound to.  ``profile`` has values of the user's own for models: a name, a path, or its content.  ``mode: shadow``
    decides and reports everything and sends the original; ``share`` is the share of the sessions that are live (by
    default all, in shadow mode none).  ``tests`` are run by :func:`elision.check`, and by nothing else.
    """

    processors: Sequence[Processor] = ()
    dialect: str = "auto"
    model: str | None = None
    on_error: Literal["skip", "raise"] = "skip"
    compat: Literal["sweagent"] | None = None
    classification: str | Path | Mapping[str, Any] | Table | None = "default"
    archive: str | Path | Archive = ".elision"
    stored_policy: Policy = "none"
    owner: Literal["elision", "provider"] | None = None
    schedule: Schedule = "break_even"
    on_bound_thinking: OnBoundThinking | None = None
    profile: str | Path | Mapping[str, Any] | None = None
    mode: Mode = "live"
    share: float | None = None
    tests: Sequence[ChainTest] = ()
    own_profile: OwnProfile | None = field(init=False, repr=False, compare=False)
    table: Table | None = field(init=False, repr=False, compare=False)
    by_window: Sequence[str] = field(init=False, repr=False, compare=False)
    """Types of its processors that go by the model's window."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "processors", _processors(self.processors))
        object.__setattr__(self, "schedule", _schedule(self.schedule))
        object.__setattr__(self, "tests", _tests(self.tests))
        self._check_options()
        object.__setattr__(self, "table", _table(self.classification))
        object.__setattr__(self, "own_profile", load_own(self.profile))
        object.__setattr__(self, "by_window", names_by_window(self.processors))
        object.__setattr__(self, "archive", _archive(self.archive, self.stored_policy))
        failures = [(index, told) for index, each in enumerate(self.processors) if (told := _unprepared(each))]
        with own_profile(self.own_profile):
            failures += problems_of(self.processors, Target(self.model, self.dialect, self.table))
        if failures:
            raise PrepareError(failures)

    def _check_options(self) -> None:
        """Say what is wrong with options that a chain file has in the same form."""
        given = {name: getattr(self, name) for name in _AS_IN_A_FILE}
        said = {name: value for name, value in given.items() if value != type(self).__dataclass_fields__[name].default}
        written = {name: value for name, value in said.items() if not _is_opened(name, value)}
        if written:
            _checked(written)

    @property
    def live_share(self) -> float:
        """The share of sessions that send what is decided; the others send the original."""
        return live_share(self.mode, self.share)

    @property
    def opened_archive(self) -> Archive:
        """The archive that originals go to."""
        from elision.archive import Archive

        assert isinstance(self.archive, Archive)  # noqa: S101 (__post_init__)
        return self.archive

    def process(
        self,
        messages: Sequence[Any] | Mapping[str, Any],
        *,
        system: Any = None,
        tools: Any = None,
        model: str | None = None,
        dialect: str | None = None,
        now: float | None = None,
    ) -> SentView:
        """Return the view of one request, from the whole history, keeping nothing.

        In a loop use :meth:`session`: it gives the same views and looks at each message once.  With ``now``, the time
        of the request in seconds since the epoch, the archive keeps it, so that the next request knows of a cold cache.
        """
        with Session(self, lives=False) as session:
            return session.process(messages, system=system, tools=tools, model=model, dialect=dialect, now=now)

    def session(self, id: str = "") -> Session:  # noqa: A002 (the field's word)
        """Return a session for one run of an agent."""
        return Session(self, id)


def require_chain(given: object, what: str) -> None:
    """Raise where something else is given than a chain."""
    if not isinstance(given, Chain):
        raise InputError(f"{what}: this is {_kind(given)}, no chain; give one, such as elision.load('default')")


def _processors(given: Any) -> tuple[Processor, ...]:
    """Return processors, or say what else was given."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping | Processor | type):
        told = f"this is {_kind(given)}; give a list of processors, or load a chain with elision.load"
        raise ConfigError([Problem("chain", 0, 0, "processors", told)])
    found = tuple(given)
    wrong = [(index, each) for index, each in enumerate(found) if not isinstance(each, Processor)]
    if wrong:
        raise ConfigError(
            Problem(
                "chain",
                0,
                0,
                f"processors[{index}]",
                f"this is {_kind(each)}, no processor; make one of its class, such as "
                "elision.processor_types()['truncate'](), or give the chain as YAML to elision.loads",
            )
            for index, each in wrong
        )
    return found


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"


def _table(given: str | Path | Mapping[str, Any] | Table | None) -> Table | None:
    from elision.classification import Table, load_table

    if given is None or given == "none":
        return None
    return given if isinstance(given, Table) else load_table(given)


def _schedule(given: Any) -> Schedule:
    """Return a schedule, also where it is given as in a chain file; say what is wrong with it."""
    from elision.schedule import NAMES, Polling, Trigger

    if isinstance(given, Polling | Trigger) or (isinstance(given, str) and given in NAMES):
        return cast("Schedule", given)
    return _checked({"schedule": given}).schedule


def _tests(given: Any) -> tuple[ChainTest, ...]:
    """Return the tests, also where they are given as in a chain file; say what is wrong with them."""
    return tuple(_checked({"tests": given}).tests) if given != () else ()


def _is_opened(name: str, value: Any) -> bool:
    """Whether a value is one that only Python has: a path, or what a name or a path stands for."""
    from elision.archive import Archive
    from elision.classification import Table

    opened: dict[str, tuple[type, ...]] = {
        "archive": (Path, Archive),
        "classification": (Path, Mapping, Table, type(None)),
        "profile": (Path, Mapping),
    }
    return isinstance(value, opened.get(name, ()))


def _checked(data: Mapping[str, Any]) -> ChainOptions:
    """Return options as a chain file has them, or say what is wrong with them."""
    from pydantic import ValidationError

    from elision.config.options import ChainOptions
    from elision.config.problems import path_text
    from elision.config.wording import complaints

    try:
        return ChainOptions.model_validate(data)
    except ValidationError as error:
        wrong = complaints(error, data, "a chain", ChainOptions.model_fields)
        raise ConfigError([Problem("chain", 0, 0, path_text(each.at), each.message) for each in wrong]) from None


def _archive(given: str | Path | Archive, stored: Policy) -> Archive:
    from elision.archive import Archive, open_archive

    return given if isinstance(given, Archive) else open_archive(given, stored=stored)


def _unprepared(processor: Processor) -> str:
    try:
        processor.prepare()
    except ConfigError as error:
        return "; ".join(problem.message for problem in error.problems)
    except (ElisionError, ValueError) as error:
        return str(error) or "it cannot be prepared"
    except Exception as error:  # noqa: BLE001 (code of the user's own may raise anything when it is imported)
        return f"{processor.type_name} cannot be prepared ({type(error).__name__}: {error}); mend what it needs"
    return ""


def in_order(processors: Iterable[Processor]) -> list[tuple[int, str]]:
    """Return where a chain breaks an order rule of its processors, and what to do."""
    chain = list(processors)
    types = [processor.type_name for processor in chain]
    problems = []
    for index, processor in enumerate(chain):
        behind = [name for name in processor.after if name in types[index + 1 :]]
        because = f" ({processor.order_reason})" if processor.order_reason else ""
        if behind:
            problems.append((index, f"{types[index]} must stand after {', '.join(behind)}{because}; move it down"))
        followers = [later.type_name for later in chain[index + 1 :] if not later.last]
        if processor.last and followers:
            problems.append((index, f"{types[index]} must stand after {', '.join(followers)}{because}; move it last"))
    return problems
