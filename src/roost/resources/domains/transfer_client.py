"""Fetching a zone from another name server (AXFR, RFC 5936), bounded in bytes, records and time.

Nothing is held while another server is waited for, and a transfer ends when it is cancelled. What
arrives is read message by message, so that a large zone never keeps others waiting for long.
"""

import asyncio
import struct
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Final

import dns.exception
import dns.name
import dns.rcode
import dns.rdatatype

from roost.errors import ShownError
from roost.resources.domains.parsing import Conversion, Parsed
from roost.resources.domains.rules import MAX_FOUND
from roost.resources.domains.settings import Dns, Server
from roost.resources.domains.wire_parsing import Message
from roost.threads import COMPUTING, DISK

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver

SECONDS: Final = 30.0
"""For a whole transfer, whatever addresses are tried."""
MAX_BYTES: Final = 16 * 2**20
_ADDRESSES: Final = 4
"""Of one name server, that are tried."""
_LOOK_UP_SECONDS: Final = 5.0


class TransferError(ShownError):
    """The zone cannot be had; the text says why. It may be had later."""


class TransferTimeoutError(TransferError):
    """The time is over."""


class TransferRefusedError(TransferError):
    """Nor will it be had later."""


def unreachable(server: Server) -> str:
    """The one text for names that are not found, ports that are closed, filtered or others', and
    addresses that may not be asked: nobody explores networks by it."""
    return f"No name server that sends zones was reached at {server.host}."


async def fetch(zone: str, server: Server, dns_: Dns, seconds: float) -> Parsed:
    """All of a zone from the first address that gives it. Raises TransferError."""
    try:
        async with asyncio.timeout(seconds):
            return await _fetch(zone, server, dns_, seconds)
    except TimeoutError:
        raise TransferTimeoutError(unreachable(server)) from None


async def _fetch(zone: str, server: Server, dns_: Dns, seconds: float) -> Parsed:
    error = TransferError(unreachable(server))
    for address in await resolve(server, dns_):
        try:
            return await _transfer(zone, server, address, dns_, seconds / 3)
        except TransferError as failed:
            error = failed
        except (OSError, EOFError, dns.exception.DNSException):
            error = TransferError(unreachable(server))
    raise error


async def resolve(server: Server, dns_: Dns) -> list[str]:
    """The addresses of a name server that may be asked. Raises TransferRefusedError."""
    found = [server.host] if server.is_address else await look_up(server.host, dns_.resolver)
    allowed = [a for a in dict.fromkeys(found) if dns_.may_import_from(a, server.port)]
    if not allowed:
        raise TransferRefusedError(unreachable(server))
    return allowed[:_ADDRESSES]


async def look_up(host: str, resolver: Server | None) -> list[str]:
    """The addresses of a name, [] when there are none; None as `resolver`: those of this machine.

    Names of this machine's own file of hosts are nobody's business.
    """
    addresses: list[str] = []
    with suppress(dns.exception.DNSException, OSError):
        asked = await DISK.run(_resolver, resolver)
        for kind in (dns.rdatatype.A, dns.rdatatype.AAAA):
            answer = await asked.resolve(
                dns.name.from_text(host), kind, raise_on_no_answer=False, search=False
            )
            addresses += [str(record) for record in answer.rrset or ()]
    return addresses


def _resolver(server: Server | None) -> "Resolver":
    # Seldom needed, and slow to load; so is the other one.
    from dns.asyncresolver import Resolver

    resolver = Resolver(configure=server is None)
    if server is not None:
        resolver.nameservers, resolver.port = [server.host], server.port
    resolver.lifetime, resolver.cache = _LOOK_UP_SECONDS, None
    return resolver


async def _transfer(zone: str, server: Server, address: str, dns_: Dns, patience: float) -> Parsed:
    conversion = Conversion(zone, dns_)
    records, ends = 0, 0
    async with aclosing(_messages(zone, address, server, patience)) as messages:
        async for message in messages:
            records += message.answers
            if records > MAX_FOUND:
                break
            ends = await COMPUTING.run(_take, message, conversion, ends)
            if ends == 2:
                return await COMPUTING.run(conversion.end)
    raise TransferRefusedError("The zone is too large.")


def _take(message: Message, conversion: Conversion, ends: int) -> int:
    """How many SOA records there have been; the second one ends a transfer."""
    found = []
    for source in message.sources():
        if source.type == "SOA":
            ends += 1
            if ends == 2:
                break
        elif ends == 0:
            raise TransferRefusedError("The name server's transfer does not begin with an SOA.")
        found.append(source)
    conversion.add(found)
    return ends


async def _messages(
    zone: str, address: str, server: Server, patience: float
) -> AsyncGenerator[Message]:
    """As many as are wanted; nobody makes us read more than a domain can have."""
    from dns.message import make_query

    query, size = make_query(f"{zone}.", dns.rdatatype.AXFR), 0
    async with asyncio.timeout(patience):
        reader, writer = await asyncio.open_connection(address, server.port)
    try:
        wire = query.to_wire()
        writer.write(struct.pack("!H", len(wire)) + wire)
        while size <= MAX_BYTES:
            (length,) = struct.unpack("!H", await reader.readexactly(2))
            size += length
            message = Message(await reader.readexactly(length))
            _check(message, query.id)
            yield message
    finally:
        writer.transport.abort()


def _check(message: Message, query_id: int) -> None:
    if message.id != query_id or not message.is_answer:
        raise dns.exception.FormError
    if message.code != dns.rcode.NOERROR or not message.answers:
        code = dns.rcode.to_text(dns.rcode.Rcode(message.code))
        raise TransferRefusedError(f"The name server refused the transfer ({code}).")
