"""Whether somebody keeps traces, and who: OpenTelemetry's own variables, or `--traces`.

The library is imported only where they are wanted.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from roost.errors import OperatorError
from roost.settings import Settings
from roost.threads import Threads
from roost.tracing import Tracer

_CLOSE_SECONDS = 1.0
"""For what has not been sent when a process stops."""

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"


class TracesError(OperatorError):
    """Traces cannot be kept as the settings say."""


def traces_wanted(settings: Settings, environ: Mapping[str, str]) -> bool:
    """Whether spans are sent. Raises TracesError for settings that cannot be."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "").strip()
    given = [name for name in _ENDPOINTS if environ.get(name)]
    if settings.traces is not None:
        _check_url("--traces", settings.traces)
    elif exporter == "none" or not (exporter or given):
        return False
    elif exporter not in ("", "otlp"):
        raise TracesError("OTEL_TRACES_EXPORTER must be otlp or none")
    else:
        for name in given:
            _check_url(name, environ[name])
    for name in _PROTOCOLS:
        if environ.get(name, _PROTOCOL) not in ("", _PROTOCOL):
            raise TracesError(f"{name} must be {_PROTOCOL}: Roost speaks no other")
    return True


def _check_url(name: str, url: str) -> None:
    """What is wrong with a URL is said without the URL, as it may hold a password."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise TracesError(f"{name} must be a URL such as http://127.0.0.1:4318")
    if parts.username is not None:
        raise TracesError(f"{name} must hold no password: see OTEL_EXPORTER_OTLP_HEADERS")
    if parts.query or parts.fragment:
        raise TracesError(f"{name} must end with its path")


@asynccontextmanager
async def keeping_traces(
    settings: Settings, environ: Mapping[str, str]
) -> AsyncIterator[Tracer | None]:
    """Who keeps spans until the end of the block; None when nobody does. Raises TracesError."""
    if not traces_wanted(settings, environ):
        yield None
        return
    try:
        from roost.app.otel import Collector
    except ModuleNotFoundError as error:
        raise TracesError("traces need OpenTelemetry: install roost[otel]") from error
    try:
        collector = Collector(settings.traces and f"{settings.traces.rstrip('/')}/v1/traces")
    except ValueError as error:
        raise TracesError(f"traces cannot be sent: {error}") from error
    try:
        yield collector
    finally:
        await _close(collector.close)


async def _close(close: Callable[[], None]) -> None:
    """A collector that does not answer is left behind, with the thread that asks it."""
    closing = asyncio.ensure_future(Threads("traces", 1).run(close))
    await asyncio.wait({closing}, timeout=_CLOSE_SECONDS)
    closing.cancel()
