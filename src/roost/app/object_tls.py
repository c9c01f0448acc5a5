"""TLS for buckets: a listener that shows each caller the certificate of the bucket it asks for.

What it decrypts goes to the S3 server of the bucket's region as it is, which finds the bucket by
the name that the request is for. It is there while a server of Roost runs that is told to listen.
"""

import asyncio
import socket
import ssl
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import structlog

from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.engines.listeners import Listener, ListenerError
from roost.errors import OperatorError
from roost.resources.object_storage import certificate_queries as queries
from roost.resources.object_storage.certificate_queries import Served
from roost.resources.object_storage.certificate_rules import server_context
from roost.resources.object_storage.engine import OBJECT_PLANE
from roost.secrets import Box
from roost.services import Services
from roost.settings import Settings
from roost.store import FAULTS, Store
from roost.web.connections import Connections, Networks
from roost.web.tls import HANDSHAKE_SECONDS, Caller, accepted

_IDLE_SECONDS = 75.0
_CLOSE_SECONDS = 10.0
_LOOK_SECONDS = 2.0
"""Until a change of a certificate is seen."""
_PIECE = 64 * 1024
_MOST = 1024
"""Connections at once."""
_MOST_CONTEXTS = 1000
"""Kept in memory, those that were asked for last."""

_log = structlog.get_logger(__name__)


class ObjectTls:
    """Its methods run on one event loop."""

    def __init__(self, store: Store, box: Box, engines: Engines, connections: Connections) -> None:
        self._store = store
        self._box = box
        self._engines = engines
        self._connections = connections
        self._served: dict[str, Served] = {}
        self._contexts: OrderedDict[str, tuple[Served, ssl.SSLContext]] = OrderedDict()
        self._regions: WeakKeyDictionary[ssl.SSLContext, str] = WeakKeyDictionary()
        """Of the buckets whose certificates connections show."""
        self._open: set[asyncio.Task[None]] = set()
        self._greeting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._greeting.sni_callback = self._choose

    @asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[int]:
        """Serve while the block runs; the port."""
        with _bind(host, port) as listening:
            async with asyncio.TaskGroup() as tasks:
                work = [
                    tasks.create_task(each) for each in (self._watch(), self._accept(listening))
                ]
                yield listening.getsockname()[1]
                for task in (*work, *self._open):
                    task.cancel()

    async def _accept(self, listening: socket.socket) -> None:
        """Connections are counted before TLS begins: a handshake costs a processor."""
        async for connection, address in accepted(listening):
            task = asyncio.create_task(self._answer(connection, address))
            self._open.add(task)
            task.add_done_callback(self._open.discard)

    async def _watch(self) -> None:
        """Know all certificates, at most so many seconds late."""
        known: tuple[int, int] | None = None
        while True:
            try:
                found = await queries.version(self._store)
                if found != known:
                    self._served, known = await queries.served(self._store), found
            except FAULTS as error:
                _log.warning("certificates_not_read", reason=str(error))
            await asyncio.sleep(_LOOK_SECONDS)

    def _choose(
        self, connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext
    ) -> int | None:
        """Show the certificate of the bucket of this name, where it has one that can be used."""
        try:
            context = self._context_of((name or "").lower())
        except (ValueError, ssl.SSLError) as error:
            _log.warning("certificate_not_usable", hostname=name, reason=type(error).__name__)
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        if context is None:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        connection.context = context
        return None

    def _context_of(self, hostname: str) -> ssl.SSLContext | None:
        served = self._served.get(hostname)
        if served is None:
            return None
        known, context = self._contexts.pop(hostname, (None, None))
        if known != served or context is None:
            private_key = self._box.open(served.private_key)
            context = server_context(served.certificate.encode(), private_key)
            self._regions[context] = served.region
        self._contexts[hostname] = (served, context)
        while len(self._contexts) > _MOST_CONTEXTS:
            self._contexts.popitem(last=False)
        return context

    async def _answer(self, connection: socket.socket, address: str) -> None:
        caller, loop = Caller(connection), asyncio.get_running_loop()
        with connection:
            if not self._connections.enter(caller, address):
                return
            reader = asyncio.StreamReader(_PIECE)
            protocol = asyncio.StreamReaderProtocol(reader)
            try:
                with suppress(OSError, TimeoutError):  # SSLError is one, too.
                    transport, _ = await loop.connect_accepted_socket(
                        lambda: protocol,
                        connection,
                        ssl=self._greeting,
                        ssl_handshake_timeout=HANDSHAKE_SECONDS,
                    )
                    self._connections.begin(caller)
                    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
                    await self._pass_on(reader, writer)
            finally:
                self._connections.leave(caller)
                caller.drop()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        region = self._regions[writer.get_extra_info("ssl_object").context]
        try:
            place = urlsplit(await self._engines.of(OBJECT_PLANE, region).endpoint())
        except EngineError as error:
            _log.warning("object_storage_not_reached", region=region, reason=str(error))
            return
        back, forth = await asyncio.open_connection(place.hostname, place.port, limit=_PIECE)
        try:
            await _relay((reader, forth), (back, writer))
            writer.close()
            async with asyncio.timeout(_CLOSE_SECONDS):
                await writer.wait_closed()
        finally:
            forth.transport.abort()


async def _relay(*ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Until either side has ended, or nothing has come from any for long."""
    async with asyncio.timeout(_IDLE_SECONDS) as idle:
        tasks = {asyncio.create_task(_copy(*way, idle)) for way in ways}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle: asyncio.Timeout
) -> None:
    while piece := await reader.read(_PIECE):
        writer.write(piece)
        await writer.drain()
        idle.reschedule(asyncio.get_running_loop().time() + _IDLE_SECONDS)


def _bind(host: str, port: int) -> socket.socket:
    """OperatorError when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise OperatorError(
            f"cannot serve buckets by TLS at {host}, port {port}: {error}"
        ) from None


@asynccontextmanager
async def serve_buckets(
    settings: Settings, store: Store, services: Services
) -> AsyncIterator[int | None]:
    """The port at which buckets are served by TLS while the block runs; None where none is told."""
    if settings.objects_tls_listen is None:
        yield None
        return
    try:
        listener = Listener.parse(settings.objects_tls_listen)
    except ListenerError as error:
        raise OperatorError(f"ROOST_OBJECTS_TLS_LISTEN: {error}") from None
    each = settings.connections_per_address
    connections = Connections(min(settings.max_connections, _MOST), each, Networks(""))
    buckets = ObjectTls(store, services.get(Box), services.get(Engines), connections)
    async with buckets.listening(listener.host, listener.port) as port:
        _log.info("buckets_served", port=port)
        yield port
