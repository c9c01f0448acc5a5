"""Waits that keep nobody busy: who works for a job leaves, and is called again."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class _Work:
    """One try of somebody who asks again."""

    leaves: bool = True


_work: ContextVar[_Work | None] = ContextVar("work", default=None)


class NotYetError(Exception):
    """What was asked for has begun and takes its time: ask again in so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not yet: {seconds:.1f} s")
        self.seconds = seconds


@contextmanager
def may_leave() -> Iterator[None]:
    """Inside the block NotYetError is understood, by one who asks again."""
    before = _work.set(_Work())
    try:
        yield
    finally:
        _work.reset(before)


def asks_again() -> bool:
    """Whether the caller of a wait is one who may have been here before."""
    return _work.get() is not None


def is_leaving() -> bool:
    """Whether to raise NotYetError instead of a wait."""
    work = _work.get()
    return work is not None and work.leaves


def stay() -> None:
    """Wait for whatever comes next in this try: a wait that is over would begin anew in another,
    and of two in a row the second would never end."""
    work = _work.get()
    if work is not None:
        work.leaves = False
