"""Waits that keep nobody busy: who works for a job leaves, and is called again."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_leaving: ContextVar[bool] = ContextVar("leaving", default=False)


class NotYetError(Exception):
    """What was asked for has begun and takes its time: ask again in so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not yet: {seconds:.1f} s")
        self.seconds = seconds


@contextmanager
def may_leave() -> Iterator[None]:
    """Inside the block NotYetError is understood, by one who asks again."""
    before = _leaving.set(True)
    try:
        yield
    finally:
        _leaving.reset(before)


def is_leaving() -> bool:
    """Whether to raise NotYetError instead of a wait."""
    return _leaving.get()
