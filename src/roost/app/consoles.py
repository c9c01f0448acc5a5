"""Consoles of guests as WebSockets, for whoever has a ticket (`POST …/console`)."""

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from roost.clock import Clock
from roost.core import instance_queries
from roost.core.context import Context
from roost.core.engine import EngineError
from roost.core.identity import narrowed
from roost.core.instance_queries import InstanceFacts
from roost.core.narrowing.restrictions import held_to
from roost.core.planes import Engines
from roost.errors import ApiError
from roost.resources.compute.console_queries import Ticket
from roost.resources.compute.console_service import PATH, redeem
from roost.resources.compute.endpoints import open_console
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.tokens.queries import identity_of
from roost.services import Services
from roost.store import FAULTS, Store
from roost.web.grants import require
from roost.web.narrowing import require_within
from roost.web.routing import Params

MOST = 200
"""At once in a process."""
MOST_EACH = 10
"""Of one account."""
IDLE_SECONDS = 30 * 60.0
"""Without anything typed."""
LOOK_SECONDS = 5.0
"""Between two looks whether who types still may."""
_STUCK_SECONDS = 30.0
"""That either end may not take what the other one says."""
_CHUNK = 16 * 1024

# How a connection ends (RFC 6455, 7.4.1).
_ENDED, _FORBIDDEN, _FAULT, _LATER = 1000, 1008, 1011, 1013
_TOO_MANY = _LATER, "Too many consoles"


@dataclass(frozen=True, slots=True)
class Consoles:
    """Carries bytes between clients and guests, in this process."""

    store: Store
    clock: Clock
    services: Services
    _running: Counter[int] = field(default_factory=Counter)

    def route(self) -> WebSocketRoute:
        return WebSocketRoute(PATH + "{secret}", self.answer)

    async def answer(self, client: WebSocket) -> None:
        """A ticket that is not known, or was used, gets 403."""
        ticket = await redeem(self.store, client.path_params["secret"], self.clock.now())
        facts = None if ticket is None else await self._look(ticket, client)
        if ticket is None or facts is None:
            await client.close()
            return
        await client.accept()
        with self._place(facts.account_id) as has_place:
            ended = await self._join(client, ticket, facts) if has_place else _TOO_MANY
        try:
            await client.close(*ended)
        except (RuntimeError, WebSocketDisconnect):
            return  # The client was faster.

    @contextmanager
    def _place(self, account_id: int) -> Iterator[bool]:
        place = self._running.total() < MOST and self._running[account_id] < MOST_EACH
        self._running[account_id] += place
        try:
            yield place
        finally:
            self._running[account_id] -= place
            if not self._running[account_id]:
                del self._running[account_id]

    async def _look(self, ticket: Ticket, client: WebSocket) -> InstanceFacts | None:
        """The instance, while the ticket's token may open its console from where the client is."""
        identity = await identity_of(self.store, ticket.token_id)
        facts = await instance_queries.find(self.store, ticket.compute_id)
        if identity is None or facts is None or facts.account_id != identity.account_id:
            return None
        try:
            identity = narrowed(identity, held_to(ticket.restrictions))
        except ValueError:
            return None
        if identity.expiry is not None and identity.expiry <= self.clock.now():
            return None
        if not identity.scopes.allow(open_console.scopes):
            return None
        context = Context(caller=identity, db=self.store, services=self.services, clock=self.clock)
        address = client.client.host if client.client else "local"
        try:
            params: Params = {"computeId": facts.id}
            await require(open_console.grant, identity, params, self.store)
            await require_within(open_console, context, params, address)
        except ApiError:
            return None
        return facts

    async def _join(
        self, client: WebSocket, ticket: Ticket, facts: InstanceFacts
    ) -> tuple[int, str]:
        """How it ended."""
        try:
            engine = self.services.get(Engines).on_host(INSTANCE_PLANE, facts)
            terminal = await engine.terminal(facts.id)
        except EngineError as error:
            return _FAULT, str(error)[:100]
        with terminal:
            tasks = [
                asyncio.create_task(_written(terminal, client)),
                asyncio.create_task(_typed(client, terminal)),
                asyncio.create_task(self._watch(ticket, client)),
            ]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                return done.pop().result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, ticket: Ticket, client: WebSocket) -> tuple[int, str]:
        """Until who types may not any more."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                if await self._look(ticket, client) is None:
                    return _FORBIDDEN, "The token or the grant has ended"
            except FAULTS:
                continue  # The database comes back, or the server ends.


async def _written(terminal: socket.socket, client: WebSocket) -> tuple[int, str]:
    """By the guest."""
    loop = asyncio.get_running_loop()
    try:
        while data := await loop.sock_recv(terminal, _CHUNK):
            async with asyncio.timeout(_STUCK_SECONDS):
                await client.send_bytes(data)
    except (OSError, TimeoutError, RuntimeError, WebSocketDisconnect):
        pass
    return _ENDED, "The console has ended"


async def _typed(client: WebSocket, terminal: socket.socket) -> tuple[int, str]:
    """By the client."""
    loop = asyncio.get_running_loop()
    try:
        while True:
            async with asyncio.timeout(IDLE_SECONDS):
                message = await client.receive()
            if message["type"] == "websocket.disconnect":
                return _ENDED, ""
            data = message.get("bytes") or (message.get("text") or "").encode()
            async with asyncio.timeout(_STUCK_SECONDS):
                await loop.sock_sendall(terminal, data)
    except TimeoutError:
        return _ENDED, "Nothing was typed for long"
    except OSError:
        return _ENDED, "The console has ended"
