"""The API's way from a request to an answer (DESIGN, section 2).

The order of the checks is fixed: path 404, method 405, token 401, rate 429, scope 401, grant 403,
object 404, JSON and fields 400; the state's 400 comes from the handler.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from functools import partial

import orjson
from starlette.types import Receive, Scope, Send

from roost.core.events.feed import Feed
from roost.errors import ApiError, Problem, not_found
from roost.secrets import Box
from roost.shares import on_behalf_of
from roost.store import Connection
from roost.web import exchange as http
from roost.web import spending
from roost.web.admission import LARGE, Admission
from roost.web.bodies import read_body
from roost.web.call import Asked, Call
from roost.web.dry_run import PARAMETER, is_wanted, rehearse
from roost.web.edge import Edge
from roost.web.exchange import Exchange
from roost.web.faults import failure, unavailable
from roost.web.filters import parse_filter
from roost.web.headers import UNCACHED, static_headers
from roost.web.idempotency import answer_once, canonical, check_key
from roost.web.narrowing import require_created
from roost.web.pages import parse_page
from roost.web.parts import check_part, part_of
from roost.web.queries import lock_path
from roost.web.registry import Endpoint, Page, Stream, Upload
from roost.web.reply import Header, Reply, Streamed
from roost.web.revisions.spoken import HEADER
from roost.web.streams import send_stream
from roost.web.versions import Condition, may_chain, tagged
from roost.web.waits import WAIT, parse_wait, until_changed

_REVISION = HEADER.lower().encode()

_REFUSED = frozenset((401, 403, 429))
"""Calls that the token or the user were not allowed, and those that were not looked at."""


class Api:
    """The ASGI application of everything below `/v4`."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge
        self._admission = Admission(edge)
        self._headers: Mapping[str, tuple[Header, ...]] = {
            e.name: static_headers(e) for e in edge.registry
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._serve(Exchange.of(scope), receive, send)

    async def _serve(self, exchange: Exchange, receive: Receive, send: Send) -> Reply:
        started = time.perf_counter()
        reply = await self._reply(exchange, receive)
        endpoint = exchange.endpoint
        static = self._headers[endpoint.name] if endpoint is not None else UNCACHED
        if isinstance(reply, Streamed):
            self._record(exchange, reply, time.perf_counter() - started)
            await send_stream(exchange, reply, static, receive, send)
            return reply
        await http.send_reply(exchange, reply, static, send)
        self._record(exchange, reply, time.perf_counter() - started)
        return reply

    async def _ask(self, around: Exchange, asked: Asked) -> Reply:
        """Answer a read that another request consists of, as if it had come by itself."""
        started, exchange = time.perf_counter(), part_of(around, asked)
        reply = await self._reply(exchange, None)
        self._record(exchange, reply, time.perf_counter() - started)
        return reply

    async def _reply(self, exchange: Exchange, receive: Receive | None) -> Reply:
        try:
            reply = await self._answer(exchange, receive)
        except ApiError as error:
            reply = http.refusal(error)
        except asyncio.CancelledError:
            # The server stops, and this request has had its time; its write is rolled back.
            reply = http.refusal(unavailable())
        except Exception as error:
            reply = http.refusal(failure(exchange, error))
        finally:
            if exchange.entered is not None:
                self._edge.turns.leave(exchange.entered)
        if exchange.endpoint is not None and exchange.spoken is not None:
            reply = exchange.spoken.reply(exchange.endpoint, reply)
        return reply

    def close(self) -> None:
        """Write what the access log still holds."""
        if self._edge.access_log is not None:
            self._edge.access_log.flush()

    async def _answer(self, exchange: Exchange, receive: Receive | None) -> Reply:
        """`receive` is None for a part of another request, which is a read."""
        match = self._edge.registry.router.find(exchange.path)
        if match is None or not match.methods:
            await self._admission.recognize(exchange)
            raise not_found()
        method = "GET" if exchange.method == "HEAD" else exchange.method
        endpoint = match.methods.get(method)
        if endpoint is None:
            await self._admission.recognize(exchange)
            if method == "OPTIONS":
                return Reply(200, b"{}", http.allow(match.methods))
            problem = Problem(f"Method Not Allowed: {exchange.method}")
            raise ApiError(405, [problem], http.allow(match.methods))
        exchange.endpoint = endpoint
        await self._admission.authorize(exchange, endpoint, match.params)
        edge = self._edge
        if receive is None:
            check_part(endpoint, exchange)
        revision = edge.revisions.wanted(exchange.header(_REVISION), exchange.identity)
        if revision is not None:
            exchange.spoken = await edge.revisions.spoken(revision)
            exchange.headers = exchange.spoken.headers(endpoint, exchange.headers)
        call = Call(
            caller=exchange.identity,
            params=match.params,
            db=edge.store,
            services=edge.services,
            clock=edge.clock,
            client=exchange.client,
            base=exchange.base,
            revision=revision,
        )
        with on_behalf_of(None if call.caller is None else call.account_id):
            if endpoint.writes and receive is not None:
                return await self._write(exchange, match.methods, call, receive)
            self._select(exchange, endpoint, call)
            known = exchange.header(b"if-none-match")
            if call.query and WAIT in call.query:
                return tagged(await self._await(exchange, endpoint, call, known), known)
            async with self._turn(exchange):
                reply = await _handle(endpoint, call, None)
            return tagged(reply, known) if endpoint.has_version else reply

    async def _await(
        self, exchange: Exchange, endpoint: Endpoint, call: Call, known: str | None
    ) -> Reply:
        seconds, feed = parse_wait(endpoint, call.query or {}), self._edge.services.get(Feed)

        async def ask() -> Reply:
            await self._admission.admit_again(exchange, endpoint, call)
            async with self._turn(exchange):
                return await _handle(endpoint, call, None)

        return await until_changed(feed, call.account_id, seconds, known, ask)

    def _turn(self, exchange: Exchange) -> AbstractAsyncContextManager[None]:
        """Anonymous callers need none: what they may see is in memory."""
        identity = exchange.identity
        if identity is None:
            return nullcontext()
        return self._edge.turns.turn(identity.account_id, identity.user_id)

    def _select(self, exchange: Exchange, endpoint: Endpoint, call: Call) -> None:
        if isinstance(endpoint.returns, Page):
            call.query = exchange.query()
            call.page, call.page_size = parse_page(call.query)
            call.selection = parse_filter(exchange.header(b"x-filter"), endpoint.filters)
        elif exchange.scope["query_string"]:
            call.query = exchange.query()
        if isinstance(endpoint.returns, Stream):
            call.last_event_id = exchange.header(b"last-event-id")

    async def _write(
        self, exchange: Exchange, methods: Mapping[str, Endpoint], call: Call, receive: Receive
    ) -> Reply:
        endpoint = methods[exchange.method]
        if_match = exchange.header(b"if-match")
        condition = None if if_match is None else Condition(endpoint, methods, if_match)
        key = exchange.header(b"idempotency-key") if endpoint.method == "POST" else None
        if key is not None:
            check_key(key)
        raw = await http.read(exchange, receive, endpoint.max_body or self._edge.max_body)
        if len(raw) > LARGE:
            self._admission.count_large(exchange)
        sent = raw if exchange.spoken is None else exchange.spoken.body(endpoint, raw)
        async with self._turn(exchange), AsyncExitStack() as stack:
            await self._admission.admit_again(exchange, endpoint, call)
            if condition is not None:
                await condition.check(call, self._edge.store, _handle)
            try:
                query = exchange.query()
                trial = PARAMETER in query and is_wanted(endpoint, query)
                body = await self._body(exchange, endpoint, call, sent, stack)
            except ApiError:
                # That the object does not exist comes before what is wrong with the body.
                if endpoint.of is not None:
                    await endpoint.of.handler(call)
                raise
            if trial:
                return await self._rehearse(endpoint, call, body)
            reply = await self._commit(exchange, endpoint, call, raw, body, condition)
        if call.revokes:
            await self._edge.revocations.settle()
        if endpoint.after is not None:
            call.db, call.ask = self._edge.store, partial(self._ask, exchange)
            reply = await endpoint.after(call, reply)
        return tagged(reply) if may_chain(endpoint, methods) else reply

    async def _rehearse(self, endpoint: Endpoint, call: Call, body: object) -> Reply:
        """Nothing is kept, no key either."""

        async def work(connection: Connection) -> Reply:
            call.db = connection
            return await rehearse(connection, endpoint, call, body, _handle)

        return await self._edge.store.rehearse(work)

    async def _commit(
        self,
        exchange: Exchange,
        endpoint: Endpoint,
        call: Call,
        raw: bytes,
        body: object,
        condition: Condition | None,
    ) -> Reply:
        """The body and what was prepared outlive a transaction that has to be repeated."""
        key = exchange.header(b"idempotency-key") if endpoint.method == "POST" else None

        async def work(connection: Connection) -> Reply:
            call.db = connection
            if condition is not None:
                return await self._change(exchange, endpoint, call, body, condition)
            if key is None or exchange.identity is None:
                return await _handle(endpoint, call, body)

            said = canonical(exchange.header(b"content-type"), raw)

            async def answer() -> bytes:
                return (await _handle(endpoint, call, body)).body

            kept = await answer_once(
                connection,
                self._edge.services.get(Box),
                exchange.identity,
                key,
                (" ".join((endpoint.name, exchange.path, *_former(call))), said),
                self._edge.clock.now(),
                answer,
            )
            return Reply(200, kept)

        return await self._edge.store.commit(work)

    async def _change(
        self,
        exchange: Exchange,
        endpoint: Endpoint,
        call: Call,
        body: object,
        condition: Condition,
    ) -> Reply:
        """Change one version alone. The change holds its rows by the time that another connection
        looks, which sees what it replaces, and nobody else can replace that before the commit."""
        await lock_path(call.db, call.account_id, exchange.path)
        reply = await _handle(endpoint, call, body)
        await condition.check(call, self._edge.beside, _handle)
        return reply

    async def _body(
        self,
        exchange: Exchange,
        endpoint: Endpoint,
        call: Call,
        raw: bytes,
        stack: AsyncExitStack,
    ) -> object:
        if endpoint.accepts:
            http.check_type(exchange, endpoint.accepts)
            http.check_encoding(exchange)
            if endpoint.intake is not None:
                upload = Upload(exchange.header(b"content-type") or "", raw)
                return await stack.enter_async_context(endpoint.intake(call, upload))
            return await _prepare(endpoint, call, raw)
        if endpoint.body is None:
            return None
        if raw:  # Some clients declare the type of a body that they do not send.
            http.check_json(exchange)
            http.check_encoding(exchange)
        return await _prepare(endpoint, call, await read_body(endpoint.body, raw, call))

    def _record(self, exchange: Exchange, reply: Reply, seconds: float) -> None:
        endpoint = exchange.endpoint
        name = endpoint.name if endpoint is not None else "unmatched"
        self._edge.metrics.observe(name, reply.status, seconds)
        if endpoint is not None and exchange.identity is not None and reply.status not in _REFUSED:
            self._edge.usage.add(exchange.identity.token_id, name, exchange.client)
        if self._edge.access_log is not None:
            now = self._edge.clock.now().isoformat(timespec="milliseconds")
            self._edge.access_log.add(exchange.line(now, reply, seconds))


def _former(call: Call) -> tuple[str, ...]:
    """What makes a request in a former revision another one than its like in the newest."""
    return () if call.revision is None else (call.revision,)


async def _prepare(endpoint: Endpoint, call: Call, body: object) -> object:
    return body if endpoint.prepare is None else await endpoint.prepare(call, body)


async def _handle(endpoint: Endpoint, call: Call, body: object) -> Reply:
    paid = endpoint.writes and spending.budgets_of(call)
    start = await spending.before(call) if paid else 0
    result = await (endpoint.handler(call) if body is None else endpoint.handler(call, body))
    reply = result if isinstance(result, Reply) else Reply(200, _dump(result))
    await require_created(endpoint, call, reply)
    if paid:
        await spending.require_affordable(call, start)
    return reply


def _dump(result: str | bytes | Mapping[str, object] | None) -> bytes:
    """The body of a success."""
    if result is None:
        return b"{}"
    if isinstance(result, bytes):
        return result
    return result.encode() if isinstance(result, str) else orjson.dumps(result)
