"""Traces as OpenTelemetry has them, sent by OTLP over HTTP.

Spans wait in a queue of a fixed size (`OTEL_BSP_MAX_QUEUE_SIZE`) and are sent by a thread of their
own: while a collector does not answer the oldest are lost, and nobody waits.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from roost.tracing import Attributes, Role, at_place
from roost.waiting import NotYetError

_KINDS: dict[Role, SpanKind] = {
    "request": SpanKind.SERVER,
    "job": SpanKind.CONSUMER,
    "step": SpanKind.INTERNAL,
    "engine": SpanKind.CLIENT,
}
_FIRST: frozenset[Role] = frozenset(("request", "job"))
"""Never below what happens to be around them: a request may be read while another is answered."""

_PROPAGATOR = TraceContextTextMapPropagator()
_PLACE = "traceparent"

# A line for each attempt, which is no JSON and may hold a URL; `_Reporting` says what matters.
logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)

_log = structlog.get_logger(__name__)


class Collector:
    """Sends spans. Without an `endpoint` to that of OpenTelemetry's variables.

    Raises ValueError for variables that contradict each other.
    """

    def __init__(self, endpoint: str | None) -> None:
        self._provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        exporter = _Reporting(OTLPSpanExporter(endpoint))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("roost", version("roost"))

    @contextmanager
    def span(
        self, role: Role, name: str, attributes: Attributes, parent: str | None = None
    ) -> Iterator["_KeptSpan"]:
        """See Tracer."""
        first = Context() if role in _FIRST else None
        context = first if parent is None else _PROPAGATOR.extract({_PLACE: parent})
        with self._tracer.start_as_current_span(
            name,
            context,
            _KINDS[role],
            _given(attributes),
            record_exception=False,
            set_status_on_exception=False,
        ) as open_span:
            span = _KeptSpan(open_span)
            with (
                at_place(_place()),
                structlog.contextvars.bound_contextvars(trace_id=span.trace_id),
            ):
                try:
                    yield span
                except NotYetError:  # It goes on, and whoever asks again is told how it ended.
                    raise
                except Exception as error:
                    span.fail(type(error).__name__)
                    raise
                except BaseException:
                    span.fail("cancelled")
                    raise

    def close(self) -> None:
        """Send what waits; takes its time when nobody answers."""
        self._provider.shutdown()


class _KeptSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self.trace_id = trace.format_trace_id(span.get_span_context().trace_id)

    def call(self, name: str) -> None:
        self._span.update_name(name)

    def tell(self, attributes: Attributes) -> None:
        self._span.set_attributes(_given(attributes))

    def fail(self, kind: str) -> None:
        """Without the message, which may say what users wrote."""
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))


class _Reporting(SpanExporter):
    """Says once when spans are lost, and once when they arrive again."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._lost = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            if self._lost:
                _log.info("traces_sent_again", lost=self._lost)
            self._lost = 0
        else:
            if not self._lost:
                _log.warning("traces_not_sent", reason="the collector does not take them")
            self._lost += len(spans)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


def _resource() -> Resource:
    """OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come before our own names."""
    own = Resource({"service.name": "roost", "service.version": version("roost")})
    return Resource.create().merge(own).merge(OTELResourceDetector().detect())


def _place() -> str:
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier[_PLACE]


def _given(attributes: Attributes) -> dict[str, str | int]:
    return {name: value for name, value in attributes.items() if value is not None}
