"""The digest of one result: what can be decided by it, where its original is, how it was made, and when it is stale."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from elision.placeholders.cleaning import shortened

MINIMAL, SHORT, FULL = 0, 1, 2
"""How much of a digest is told."""

Line = Annotated[str, StringConstraints(min_length=1, max_length=400)]


class Digest(BaseModel):
    """What a summary says of one result.

    Its schema is the gate: decidable (a status, and an exit code or findings), locatable (step, tool, ref),
    reproducible (the call and the hash of what came of it), expirable (its classes, and whether it is out of date).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: Annotated[int, Field(ge=0)]
    tool: Annotated[str, StringConstraints(min_length=1)]
    call: Annotated[str, StringConstraints(min_length=1)]
    status: Literal["ok", "error", "not said"]
    exit_code: int | None = None
    lines: Annotated[int, Field(ge=0)] = 0
    chars: Annotated[int, Field(ge=0)] = 0
    findings: tuple[Line, ...] = ()
    lays_down: tuple[Line, ...] = ()
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    ref: Annotated[str, StringConstraints(min_length=1)]
    classes: tuple[str, ...]
    outdated: bool = False
    time: str = ""
    revision: str = ""
    session: str = ""

    @model_validator(mode="after")
    def _is_decidable(self) -> Self:
        if self.chars and self.exit_code is None and not self.findings:
            raise ValueError("it says neither an exit code nor what was found")
        return self

    def line(self, detail: int) -> str:
        """Return it as one line: all of it, without most findings (1), or the call and what it rules out (0)."""
        told = "" if self.status == "not said" else str(self.status)
        told += "" if self.exit_code is None else f"{', ' if told else ''}exit code {self.exit_code}"
        said = [f"step {self.step}: {self.call}" + (f" -> {told}" if told else "")]
        if self.outdated:
            said.append("out of date by now")
        if detail > MINIMAL:
            said.append(f"{_counted(self.lines, 'line')}, {_counted(self.chars, 'char')}" if self.chars else "empty")
            said += [f"time {self.time}"] if self.time else []
            said += [f"revision {self.revision}"] if self.revision else []
            shown = self.findings if detail > SHORT else dict.fromkeys([*self.findings[:1], *self.lays_down])
            said += [f"says {' | '.join(shown)}"] if shown else []
        elif self.lays_down:
            said.append(f"says {' | '.join(self.lays_down)}")
        said.append(f"sha256 {self.sha256[:12]}, ref {self.ref}")
        return "; ".join(said)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def problem_of(error: ValidationError) -> str:
    """Return what is wrong with a digest in one line."""
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return shortened(f"{place}: {first['msg']}" if place else first["msg"], 200)
