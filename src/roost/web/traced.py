"""The API where somebody keeps traces: each request is a span."""

from starlette.types import Receive, Send

from roost.tracing import Span, Tracer
from roost.web.api import Api
from roost.web.edge import Edge
from roost.web.exchange import Exchange
from roost.web.reply import Reply

_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
_SERVER_FAULT = 500


class TracedApi(Api):
    """Tells operations, ids and statuses; no path as it was sent, no query, header or body.

    A trace begins here: a `traceparent` that comes with a request is not believed, as anybody may
    send one.
    """

    def __init__(self, edge: Edge, tracer: Tracer) -> None:
        super().__init__(edge)
        self._tracer = tracer

    async def _serve(self, exchange: Exchange, receive: Receive, send: Send) -> Reply:
        method = exchange.method if exchange.method in _METHODS else "_OTHER"
        attributes = {"http.request.method": method, "roost.request.id": exchange.request_id}
        with self._tracer.span("request", method, attributes) as span:
            exchange.trace_id = span.trace_id
            reply = await super()._serve(exchange, receive, send)
            _describe(span, method, exchange, reply)
        return reply


def _describe(span: Span, method: str, exchange: Exchange, reply: Reply) -> None:
    """By what became known on the way."""
    endpoint, identity = exchange.endpoint, exchange.identity
    span.tell({"http.response.status_code": reply.status})
    if endpoint is not None:
        span.call(f"{method} {endpoint.path}")
        span.tell({"http.route": endpoint.path, "roost.operation": endpoint.name})
    if identity is not None:
        span.tell({"roost.account.id": identity.account_id, "roost.user.id": identity.user_id})
    if reply.status >= _SERVER_FAULT:
        span.fail(str(reply.status))
