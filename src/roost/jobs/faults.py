"""Planned faults at the boundaries of steps, for tests and the lab."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto


class Crash(BaseException):
    """The worker forgets the job without a write, as if its process had been killed."""


class Point(Enum):
    BEFORE_STEP = auto()
    BEFORE_COMMIT = auto()
    AFTER_COMMIT = auto()


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place in the run of a kind; `undo` means the step's undo."""

    kind: str
    step: str
    point: Point = Point.BEFORE_STEP
    undo: bool = False


Fault = Callable[[], BaseException]


class Faults:
    """Each boundary raises what is planned for it, as many times as planned."""

    def __init__(self) -> None:
        self._planned: dict[Boundary, list[Fault]] = {}

    def plan(self, boundary: Boundary, fault: Fault, times: int = 1) -> None:
        """After a commit only a Crash makes sense: the step is done."""
        self._planned.setdefault(boundary, []).extend([fault] * times)

    def pending(self) -> dict[Boundary, int]:
        """How many faults have not struck yet."""
        return {boundary: len(faults) for boundary, faults in self._planned.items()}

    def clear(self) -> None:
        self._planned.clear()

    def reach(self, boundary: Boundary) -> None:
        """Raise the next fault planned for this boundary, if any."""
        faults = self._planned.get(boundary)
        if not faults:
            return
        fault = faults.pop(0)
        if not faults:
            del self._planned[boundary]
        raise fault()
