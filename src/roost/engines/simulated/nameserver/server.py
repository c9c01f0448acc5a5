"""Queries, transfers and notices over UDP and TCP."""

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from ipaddress import ip_address, ip_network
from itertools import chain
from typing import cast

from dns import flags, message, opcode, rcode, rdataset, rrset
from dns.exception import DNSException
from dns.message import Message, QueryMessage
from dns.name import Name
from dns.rdataset import Rdataset
from dns.rdatatype import RdataType
from dns.rrset import RRset

from roost.engines.listeners import Listener
from roost.engines.simulated.nameserver.answers import Answer, refusal
from roost.engines.simulated.nameserver.content import Content
from roost.engines.simulated.nameserver.state import Served, Zones

_TCP_SECONDS = 10.0
_PLAIN_UDP = 512
_STREAM = 65_535
"""Bytes of an answer over TCP, whatever the query says of datagrams."""
_TRANSFERS = (RdataType.AXFR, RdataType.IXFR)
_BATCH = 60_000
"""Bytes of the records of one message of a transfer, where one alone is not larger."""
_HEAD = 10
"""Bytes of a record beside its name and its data."""
_STREAMS, _DATAGRAMS = 64, 256
"""Conversations and questions at the same time; others are not answered."""

Heed = Callable[[str, str], Awaitable[None]]
"""Of a notice: zone and sender."""


class NameServer:
    """Answers from zones, at some listeners."""

    def __init__(self, zones: Zones, heed: Heed) -> None:
        self._zones = zones
        self._heed = heed
        self._datagrams: list[asyncio.DatagramTransport] = []
        self._streams: list[asyncio.Server] = []
        self._open = 0

    async def open(self, listeners: Iterable[Listener]) -> None:
        """Raises OSError when one is taken; then none is kept."""
        loop = asyncio.get_running_loop()
        try:
            for each in listeners:
                server = await asyncio.start_server(self._serve_stream, each.host, each.port)
                self._streams.append(server)
                transport, _ = await loop.create_datagram_endpoint(
                    lambda: _Datagrams(self), (each.host, each.port)
                )
                self._datagrams.append(transport)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        for transport in self._datagrams:
            transport.close()
        for server in self._streams:
            server.close()
        self._datagrams, self._streams = [], []

    async def answer(self, wire: bytes, sender: str) -> bytes | None:
        """To a datagram; None where there is nothing to say."""
        query = _read(wire)
        if query is None:
            return None
        if query.opcode() == opcode.NOTIFY:
            return await self._take_notice(query, sender)
        if not isinstance(query, QueryMessage) or query.question[0].rdtype in _TRANSFERS:
            return refusal(query, rcode.REFUSED).to_wire()
        answer = await self._answer(query)
        size = max(query.payload, _PLAIN_UDP) if query.edns >= 0 else _PLAIN_UDP
        return answer.to_wire(max_size=size, prefer_truncation=True)

    async def _take_notice(self, query: Message, sender: str) -> bytes:
        await self._heed(query.question[0].name.to_text().lower(), sender)
        answer = message.make_response(query)
        answer.flags |= flags.AA
        return answer.to_wire()

    async def _answer(self, query: QueryMessage) -> Message:
        question = query.question[0]
        served = await self._zone_of(question.name, question.rdtype)
        if served is None:
            return refusal(query, rcode.REFUSED)
        answer = Answer(query, served.content, served.signer)
        answer.complete()
        return answer.message

    async def _zone_of(self, name: Name, kind: RdataType) -> Served | None:
        """The closest zone; of the two that have a DS record's name, the upper one."""
        names = [name]
        while len(names[-1]) > 2:
            names.append(names[-1].parent())
        if kind != RdataType.DS:
            return await self._zones.serving(names)
        return await self._zones.serving([*names[1:], name])

    async def _serve_stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self._open >= _STREAMS:
            writer.close()
            return
        self._open += 1
        try:
            async with asyncio.timeout(_TCP_SECONDS):
                await self._converse(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            pass
        finally:
            self._open -= 1
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sender = writer.get_extra_info("peername")[0]
        while True:
            (length,) = struct.unpack("!H", await reader.readexactly(2))
            async for wire in self._stream_answers(await reader.readexactly(length), sender):
                writer.write(struct.pack("!H", len(wire)) + wire)
                await writer.drain()

    async def _stream_answers(self, wire: bytes, sender: str) -> AsyncIterator[bytes]:
        query = _read(wire)
        if not isinstance(query, QueryMessage):
            return
        if query.question[0].rdtype not in _TRANSFERS:
            answer = await self._answer(query)
            yield answer.to_wire(max_size=_STREAM, prefer_truncation=True)
            return
        served = await self._zones.serving([query.question[0].name])
        if served is None or not _may_transfer(served.zone.axfr_ips, sender):
            yield refusal(query, rcode.NOTAUTH).to_wire()
            return
        for each in _transfer(query, served):
            yield each.to_wire(max_size=_STREAM)


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not every event loop's transport is a subclass.
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if len(self._tasks) >= _DATAGRAMS:
            return  # Who asked will ask again.
        task = asyncio.create_task(self._reply(data, addr))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reply(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = await self._server.answer(data, addr[0])
        if answer is not None and not self._transport.is_closing():
            self._transport.sendto(answer, addr)


def _read(wire: bytes) -> Message | None:
    """None for what is no query."""
    try:
        query = message.from_wire(wire)
    except DNSException:
        return None
    return None if query.flags & flags.QR or len(query.question) != 1 else query


def _may_transfer(axfr_ips: Iterable[str], sender: str) -> bool:
    return any(ip_address(sender) in ip_network(each) for each in axfr_ips)


def _transfer(query: QueryMessage, served: Served) -> Iterator[Message]:
    """The whole zone between two SOA records (RFC 5936)."""
    content = served.content
    records = _signed(served) if served.signer else content.rdatasets()
    for batch in _batches(chain(records, [(content.origin, content.soa)])):
        answer = message.make_response(query)
        answer.flags |= flags.AA
        answer.answer = batch
        yield answer


def _batches(sets: Iterable[tuple[Name, Rdataset]]) -> Iterator[list[RRset]]:
    """Single records, as many as one message surely holds."""
    batch: list[RRset] = []
    size = 0
    for name, records in sets:
        for record in records:
            length = len(name.to_wire() or b"") + _HEAD + len(record.to_wire() or b"")
            if batch and size + length > _BATCH:
                yield batch
                batch, size = [], 0
            batch.append(rrset.from_rdata(name, records.ttl, record))
            size += length
    yield batch


def _signed(served: Served) -> Iterator[tuple[Name, Rdataset]]:
    content, signer = served.content, served.signer
    assert signer is not None
    yield content.origin, content.soa
    for name, each in _all_signable(content, served):
        if each.rdtype != RdataType.SOA:
            yield name, each
        signatures = signer.signatures(name, each, name)
        if signatures is not None:
            yield name, rdataset.from_rdata_list(signatures.ttl, list(signatures))


def _all_signable(content: Content, served: Served) -> Iterator[tuple[Name, Rdataset]]:
    signer = served.signer
    assert signer is not None
    yield from content.rdatasets()
    yield content.origin, signer.keys()
    yield from (signer.denial(name) for name in content.signed_owners())
