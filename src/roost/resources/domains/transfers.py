"""Fetching a zone from another name server (AXFR, RFC 5936).

Blocking, for a thread.
"""

import socket
import struct
import time
from collections.abc import Iterable, Iterator
from typing import Final

import dns.exception
import dns.message
import dns.rcode
import dns.rdatatype

from roost.errors import ShownError
from roost.resources.domains.dns import Dns, Server
from roost.resources.domains.rules import MAX_FOUND
from roost.resources.domains.sources import Source
from roost.resources.domains.wire import Message

SECONDS: Final = 30.0
"""For a whole transfer, whatever addresses are tried."""
MAX_BYTES: Final = 16 * 2**20
_ADDRESSES: Final = 4
"""Of one name server, that are tried."""


class TransferError(ShownError):
    """The zone cannot be had; the text says why. It may be had later."""


class TransferRefusedError(TransferError):
    """Nor will it be had later."""


def resolve(server: Server, dns_: Dns) -> list[str]:
    """The addresses of a name server that may be asked. Raises TransferError."""
    try:
        found = socket.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise TransferRefusedError(f"The name server {server.host} was not found.") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    allowed = [a for a in addresses if "%" not in a and dns_.may_transfer_from(a)]
    if not allowed:
        raise TransferRefusedError(
            f"The name server {server.host} has no address that may be asked."
        )
    return allowed[:_ADDRESSES]


def fetch(zone: str, server: Server, addresses: Iterable[str]) -> list[Source]:
    """All records of a zone from the first address that gives them. Raises TransferError."""
    error, deadline = TransferError("The name server has no address."), time.time() + SECONDS
    for address in addresses:
        try:
            return list(_transfer(zone, (address, server.port), deadline))
        except TransferError as failed:
            error = failed
        except TimeoutError:
            error = TransferError(f"The name server {server.host} did not answer in time.")
        except (OSError, EOFError):
            error = TransferError(f"The name server {server.host} could not be reached.")
        except dns.exception.DNSException:
            error = TransferError(f"The name server {server.host} sent no valid answer.")
    raise error


def _transfer(zone: str, where: tuple[str, int], deadline: float) -> Iterator[Source]:
    """Up to the second SOA, which ends a transfer."""
    records, ends = 0, 0
    for message in _messages(zone, where, deadline):
        records += message.answers
        if records > MAX_FOUND:
            raise TransferRefusedError("The zone is too large.")
        for source in message.sources():
            if source.type == "SOA":
                ends += 1
                if ends == 2:
                    return
            elif ends == 0:
                raise TransferError("The name server's transfer does not begin with an SOA.")
            yield source


def _messages(zone: str, where: tuple[str, int], deadline: float) -> Iterator[Message]:
    """As many as are wanted; nobody makes us read more than a domain can have."""
    query, size = dns.message.make_query(f"{zone}.", dns.rdatatype.AXFR), 0
    with socket.create_connection(where, timeout=min(_left(deadline), SECONDS / 3)) as connection:
        wire = query.to_wire()
        connection.sendall(struct.pack("!H", len(wire)) + wire)
        while size <= MAX_BYTES:
            (length,) = struct.unpack("!H", _receive(connection, 2, deadline))
            size += length
            message = Message(_receive(connection, length, deadline))
            _check(message, query.id)
            yield message
    raise TransferRefusedError("The zone is too large.")


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < size:
        connection.settimeout(_left(deadline))
        piece = connection.recv(size - len(received))
        if not piece:
            raise EOFError
        received += piece
    return bytes(received)


def _left(deadline: float) -> float:
    left = deadline - time.time()
    if left <= 0:
        raise TimeoutError
    return left


def _check(message: Message, query_id: int) -> None:
    if message.id != query_id or not message.is_answer:
        raise TransferError("The name server sent no valid answer.")
    if message.code != dns.rcode.NOERROR or not message.answers:
        code = dns.rcode.to_text(dns.rcode.Rcode(message.code))
        raise TransferRefusedError(f"The name server refused the transfer ({code}).")
