"""A name server that hands out one zone, made before anybody asks, so that it costs no time."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import dns.message
import dns.rrset

_IN_MESSAGE = 500


def make_lines(count: int) -> list[tuple[str, str]]:
    """Names and addresses."""
    return [(f"h{n}", f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}") for n in range(count)]


@asynccontextmanager
async def foreign_server(zone: str, count: int) -> AsyncIterator[int]:
    """Its port on 127.0.0.1."""
    wires = list(_messages(zone, count))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (length,) = struct.unpack("!H", await reader.readexactly(2))
        query = await reader.readexactly(length)
        for wire in wires:
            writer.write(struct.pack("!H", len(wire)) + query[:2] + wire[2:])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def _messages(zone: str, count: int) -> list[bytes]:
    soa = dns.rrset.from_text(f"{zone}.", 300, "IN", "SOA", "ns.x.y. me.x.y. 1 300 300 300 300")
    rows = [
        dns.rrset.from_text(f"{name}.{zone}.", 300, "IN", "A", address)
        for name, address in make_lines(count)
    ]
    whole = [soa, *rows, soa]
    return [_wire(zone, whole[at : at + _IN_MESSAGE]) for at in range(0, len(whole), _IN_MESSAGE)]


def _wire(zone: str, rrsets: list[dns.rrset.RRset]) -> bytes:
    message = dns.message.make_response(dns.message.make_query(f"{zone}.", "AXFR"))
    message.answer = rrsets
    return message.to_wire(max_size=65_535)
