"""Traces: which request, job and calls of engines belong together.

What makes spans knows only this; whether anybody keeps them is decided where a process is put
together.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Literal, Protocol, TypeAlias

Attributes: TypeAlias = Mapping[str, str | int | None]
"""Names of our own code, ids and statuses; never what users wrote. None is left out."""

Role: TypeAlias = Literal["request", "job", "step", "engine"]

_place: ContextVar[str | None] = ContextVar("trace", default=None)


class Span(Protocol):
    """A piece of work while it goes on."""

    @property
    def trace_id(self) -> str | None:
        """32 hexadecimal digits; None where nobody keeps spans."""

    def call(self, name: str) -> None:
        """Name it anew."""

    def tell(self, attributes: Attributes) -> None: ...

    def fail(self, kind: str) -> None:
        """It has failed, with a fault of this kind."""


class Tracer(Protocol):
    """Who keeps spans."""

    def span(
        self, role: Role, name: str, attributes: Attributes, parent: str | None = None
    ) -> AbstractContextManager[Span]:
        """The work of a block, below that around it or, where given, below `parent`.

        Inside it `current_place` says where others belong that come later.
        """


class _Unkept:
    """A span of nobody's."""

    trace_id = None

    def call(self, name: str) -> None:
        pass

    def tell(self, attributes: Attributes) -> None:
        pass

    def fail(self, kind: str) -> None:
        pass


_UNKEPT = nullcontext(_Unkept())


class _Untraced:
    def span(
        self, role: Role, name: str, attributes: Attributes, parent: str | None = None
    ) -> AbstractContextManager[Span]:
        return _UNKEPT


UNTRACED: Tracer = _Untraced()
"""Keeps nothing."""


def current_place() -> str | None:
    """The span around the caller as a `traceparent` (W3C Trace Context), if somebody keeps it."""
    return _place.get()


@contextmanager
def at_place(place: str) -> Iterator[None]:
    """A block whose `current_place` is this one."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)
