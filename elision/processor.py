"""The base class of history processors: a frozen value with options and one pure method, ``plan``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from pydantic import ConfigDict

from elision.edits import Edit, Operation
from elision.errors import nearest
from elision.handover import Handover, Target
from elision.message import Role
from elision.moment import Moment
from elision.options import Options
from elision.view import View

if TYPE_CHECKING:
    from elision.batch import Candidate
    from elision.redaction import Policy
    from elision.schedule import Schedule

Stage = Literal["entry", "history", "request"]


class Processor(Options, ABC):
    """A history processor.

    Subclasses declare their options as fields, a ``type`` literal that is their name in YAML, and ``plan``.  A
    processor proposes edits and keeps no state; the engine decides, archives, applies and reports.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    stage: ClassVar[Stage] = "history"
    """When it is asked: ``entry`` once for each new step, which is all it sees; ``history`` when it ``fires``, seeing
    the whole history; ``request`` for each request, never remembered."""

    operation: ClassVar[Operation] = "none"
    """What its edits do to a result."""

    touches: ClassVar[frozenset[Role]] = frozenset()
    """Whose text it edits besides tool results: of ``system``, ``user``, ``assistant``."""

    after: ClassVar[tuple[str, ...]] = ()
    """Types that must stand before it in a chain that has them."""

    last: ClassVar[bool] = False
    """Whether nothing but other ``last`` processors may stand after it."""

    order_reason: ClassVar[str] = ""
    """Why ``after`` or ``last`` holds; shown when a chain breaks the rule."""

    usually_after: ClassVar[Mapping[str, str]] = {}
    """Types that should stand before it, with what goes wrong otherwise: `elision lint` warns of another order."""

    weighs: ClassVar[bool] = False
    """Whether it asks for the tokens of the request (``view.tokens``): they are kept from request to request then."""

    cost: ClassVar[str] = ""
    """What it does to the provider's cached prefix, in one sentence (``elision list`` shows it)."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Check the traits that the class declares."""
        super().__pydantic_init_subclass__(**kwargs)
        allowed: dict[str, tuple[Iterable[str], tuple[str, ...]]] = {
            "stage": ([cls.stage], get_args(Stage)),
            "operation": ([cls.operation], get_args(Operation)),
            "touches": (cls.touches, ("system", "user", "assistant")),
        }
        if "type_name" in vars(cls):
            raise TypeError(f"{cls.__name__}.type_name: it is the field `type`; declare that instead")
        for trait, (given, known) in allowed.items():
            for name in given:
                if name not in known:
                    raise TypeError(f"{cls.__name__}.{trait}: there is no {name!r}; {nearest(name, known)}; correct it")

    @property
    def type_name(self) -> str:
        """Its name in YAML."""
        return str(getattr(self, "type", type(self).__name__))

    at_breaks: ClassVar[bool] = False
    """Whether it is asked only when the cached prefix is rewritten in any case, after all others."""

    scheduled: ClassVar[bool] = False
    """Whether its edits wait for a schedule: its own, or the chain's, so that all that rewrites does so together."""

    @property
    def waits(self) -> bool:
        """Whether the edits of this instance wait, where it depends on an option."""
        return self.scheduled

    @property
    def own_schedule(self) -> Schedule | None:
        """Its own schedule; nothing where it keeps to the chain's."""
        return None

    def chosen(self, waiting: Sequence[Candidate], view: View) -> Sequence[Candidate]:  # noqa: ARG002 (the contract)
        """Return which of its edits are made when the schedule comes due; the others wait on."""
        return waiting

    @property
    def view_policy(self) -> Policy:
        """What the model may see of the originals that its edits replace, when it recalls them."""
        return "none"

    @property
    def files_in(self) -> str:
        """The folder of the files that it writes results to; what is read from there has been brought back."""
        return ""

    @property
    def runs_at(self) -> Stage:
        """The stage of this instance, where it depends on an option."""
        return self.stage

    def params(self, view: View) -> Mapping[str, Any]:  # noqa: ARG002 (part of the contract)
        """Return what the request needs beside its messages, as litellm and the provider's SDK take it."""
        return {}

    def handover(self, target: Target) -> Handover:  # noqa: ARG002 (part of the contract)
        """Say whether it leaves the context of requests to this target to the provider."""
        return Handover()

    def fires(self, moment: Moment) -> bool:  # noqa: ARG002 (part of the contract)
        """Whether a ``history`` processor is asked at this moment; decided from the counts alone."""
        return True

    def prepare(self) -> None:
        """Do what is done once, when a chain is built (not when it is linted); raise ``ValueError`` if it fails."""

    @abstractmethod
    def plan(self, view: View) -> Iterable[Edit]:
        """Propose edits for this view."""
