"""A collector of OpenTelemetry that keeps the spans it is sent (OTLP over HTTP, protobuf)."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status


@dataclass(frozen=True, slots=True)
class KeptSpan:
    trace_id: str
    span_id: str
    parent_id: str
    """Empty for the first of a trace."""
    name: str
    kind: str
    attributes: Mapping[str, str | int]
    failed: bool

    @classmethod
    def of(cls, span: Span) -> "KeptSpan":
        return cls(
            span.trace_id.hex(),
            span.span_id.hex(),
            span.parent_span_id.hex(),
            span.name,
            Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
            {each.key: each.value.string_value or each.value.int_value for each in span.attributes},
            span.status.code == Status.STATUS_CODE_ERROR,
        )


@dataclass
class FakeCollector:
    url: str = ""
    spans: list[KeptSpan] = field(default_factory=list)
    resources: list[Mapping[str, str]] = field(default_factory=list)
    """Who sent them."""
    said: bytes = b""
    """All that it was sent."""
    silent: bool = False
    """Takes what it is sent and never answers."""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def of(self, trace_id: str) -> list[KeptSpan]:
        return [span for span in self.spans if span.trace_id == trace_id]

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        if self.silent:
            await self.over.wait()
        self.said += body
        for each in ExportTraceServiceRequest.FromString(body).resource_spans:
            who = {found.key: found.value.string_value for found in each.resource.attributes}
            self.resources.append(who)
            self.spans += [KeptSpan.of(span) for scope in each.scope_spans for span in scope.spans]
        return web.Response(content_type="application/x-protobuf")


@asynccontextmanager
async def fake_collector() -> AsyncIterator[FakeCollector]:
    """On a port of this machine until the end of the block."""
    kept, app = FakeCollector(), web.Application()
    app.router.add_post("/v1/traces", kept.take)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    kept.url = f"http://{host}:{port}"
    try:
        yield kept
    finally:
        kept.over.set()
        await runner.cleanup()
