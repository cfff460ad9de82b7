"""Typed errors: each says where, what, which rule and what to try; many can be shown at once."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable


@dataclasses.dataclass(frozen=True)
class Problem:
    """One thing that is wrong, in words a user can act on.

    ``where``: file, node or option. ``what``: the fault. ``rule``: what would be right. ``hint``: what to try.
    """

    where: str
    what: str
    rule: str = ""
    hint: str = ""

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.rule:
            lines.append(f"  rule: {self.rule}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint that names what of ``known`` looks like ``word``; ``otherwise`` where nothing does."""
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.4)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


class TinydeployError(Exception):
    """Base of all errors a user may see. Carries one or more `Problem`s and the process's exit code."""

    exit_code = 1

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[TinydeployError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class UnsupportedError(TinydeployError):
    """The model asks for something no operator, kernel or level of ours does."""


class InputError(TinydeployError):
    """A model or data file cannot be used as it is."""


class BoardError(TinydeployError):
    """The board's file cannot be used, or the model does not fit it."""


class UsageError(TinydeployError):
    """Options that contradict each other or name nothing."""

    exit_code = 2


class ToolError(TinydeployError):
    """An outside tool is missing or failed."""

    exit_code = 3


class ValidationError(TinydeployError):
    """The device and the integer twin disagree, or the run did not end."""

    exit_code = 4


class InternalError(TinydeployError):
    """A bug of ours: an invariant that no input should be able to break."""

    exit_code = 70
