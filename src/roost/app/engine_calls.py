"""How long calls of engines take, and which fail: for Prometheus and for traces."""

import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import wraps
from inspect import iscoroutinefunction
from typing import ParamSpec, TypeVar, cast

from prometheus_client import CollectorRegistry, Counter, Histogram

from roost.core.planes import Binding, Engine
from roost.errors import ShownError
from roost.tracing import UNTRACED, Span, Tracer
from roost.waiting import NotYetError

E = TypeVar("E", bound=Engine)
P = ParamSpec("P")
R = TypeVar("R")

_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0)
_PARTS = frozenset(("disks", "backups", "addresses", "overlay", "images", "metadata"))
"""What an engine for instances is made of; their methods are operations as well."""


class EngineCalls:
    """By data plane, engine and operation: all of them are names in our own code."""

    def __init__(self, registry: CollectorRegistry, tracer: Tracer = UNTRACED) -> None:
        self._tracer = tracer
        self._seconds = Histogram(
            "roost_engine_call_seconds",
            "Time that a call of an engine took, also of one that failed",
            ("plane", "engine", "operation"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._faults = Counter(
            "roost_engine_faults",
            "Calls of engines that failed, by the kind of fault",
            ("plane", "engine", "operation", "fault"),
            registry=registry,
        )

    def measured(self, binding: Binding[E]) -> Binding[E]:
        """A binding whose engine's calls are measured."""
        place = (binding.plane, binding.engine.name)
        engine = cast(E, _Measured(binding.engine, self, place))
        return Binding(binding.plane, binding.place, engine, binding.real, binding.why)

    def span(self, place: tuple[str, str], operation: str) -> AbstractContextManager[Span]:
        """The call as a part of a trace."""
        plane, engine = place
        attributes = {"roost.engine.plane": plane, "roost.engine": engine}
        return self._tracer.span("engine", f"{plane} {operation}", attributes)

    def observe(self, place: tuple[str, str], operation: str, seconds: float) -> None:
        self._seconds.labels(*place, operation).observe(seconds)

    def failed(self, place: tuple[str, str], operation: str, error: BaseException) -> None:
        """A fault that is no data plane's own is `unexpected`; an end from outside, such as of a
        step that took too long, is `cancelled`."""
        if isinstance(error, ShownError):
            fault = type(error).__name__
        else:
            fault = "unexpected" if isinstance(error, Exception) else "cancelled"
        self._faults.labels(*place, operation, fault).inc()


class _Measured:
    """Stands for an engine, or for a part of it, and is taken for one of its class."""

    __slots__ = ("_calls", "_engine", "_place", "_prefix", "_timed_ones")
    _calls: EngineCalls
    _engine: object
    _place: tuple[str, str]
    _prefix: str
    _timed_ones: dict[str, tuple[object, object]]
    """Methods as they are, and measured, by their names."""

    def __init__(
        self, engine: object, calls: EngineCalls, place: tuple[str, str], prefix: str = ""
    ) -> None:
        for name, value in zip(self.__slots__, (calls, engine, place, prefix, {}), strict=True):
            object.__setattr__(self, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._engine)

    def __getattr__(self, name: str) -> object:
        value = getattr(self._engine, name)
        known = self._timed_ones.get(name)
        if known is not None and known[0] == value:
            return known[1]
        if name in _PARTS and not self._prefix:
            return _Measured(value, self._calls, self._place, f"{name}.")
        if not iscoroutinefunction(value):
            return value
        timed = self._timed(name, value)
        self._timed_ones[name] = value, timed
        return timed

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._engine, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._engine, name)

    def _timed(self, name: str, method: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        calls, place, operation = self._calls, self._place, f"{self._prefix}{name}"

        @wraps(method)
        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            started = time.perf_counter()
            try:
                with calls.span(place, operation):
                    result = await method(*args, **kwargs)
            except NotYetError:  # It goes on; whoever asks again is told how it ended.
                raise
            except BaseException as error:
                calls.failed(place, operation, error)
                calls.observe(place, operation, time.perf_counter() - started)
                raise
            calls.observe(place, operation, time.perf_counter() - started)
            return result

        return call
