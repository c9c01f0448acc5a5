"""Fetching a zone from another name server (AXFR, RFC 5936).

Blocking, for a thread: reading 12,000 records takes a second of computing.
"""

import socket
import time
from collections.abc import Iterable, Iterator
from typing import Final

import dns.exception
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.rrset

from roost.errors import ShownError
from roost.resources.domains.dns import Dns, Server
from roost.resources.domains.rules import MAX_RECORDS

SECONDS: Final = 30.0
"""For a whole transfer."""
MAX_BYTES: Final = 16 * 2**20
_SLACK: Final = 4
"""A signed zone has several records of signing for each that is kept."""


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
    return allowed


def fetch(zone: str, server: Server, addresses: Iterable[str]) -> list[dns.rrset.RRset]:
    """All RRsets of a zone from the first address that gives them. Raises TransferError."""
    error = TransferError("The name server has no address.")
    for address in addresses:
        try:
            return list(_transfer(zone, address, server.port))
        except TransferError as failed:
            error = failed
        except dns.exception.Timeout:
            error = TransferError(f"The name server {server.host} did not answer in time.")
        except (OSError, EOFError):
            error = TransferError(f"The name server {server.host} could not be reached.")
        except dns.exception.DNSException:
            error = TransferError(f"The name server {server.host} sent no valid answer.")
    raise error


def _transfer(zone: str, address: str, port: int) -> Iterator[dns.rrset.RRset]:
    """Up to the second SOA, which ends a transfer."""
    deadline, ends = time.time() + SECONDS, 0
    query = dns.message.make_query(f"{zone}.", dns.rdatatype.AXFR)
    limit = _Limit()
    with socket.create_connection((address, port), timeout=SECONDS / 3) as connection:
        connection.setblocking(False)
        dns.query.send_tcp(connection, query, deadline)
        while ends < 2:
            answer = _answer(connection, query, deadline)
            for rrset in answer.answer:
                limit.count(rrset)
                if rrset.rdtype == dns.rdatatype.SOA:
                    ends += 1
                    if ends == 2:
                        return
                elif ends == 0:
                    raise TransferError("The name server's transfer does not begin with an SOA.")
                yield rrset


def _answer(
    connection: socket.socket, query: dns.message.Message, deadline: float
) -> dns.message.Message:
    answer, _ = dns.query.receive_tcp(connection, deadline, one_rr_per_rrset=True)
    if answer.id != query.id:
        raise TransferError("The name server sent no valid answer.")
    if answer.rcode() != dns.rcode.NOERROR or not answer.answer:
        code = dns.rcode.to_text(answer.rcode())
        raise TransferRefusedError(f"The name server refused the transfer ({code}).")
    return answer


class _Limit:
    """Nobody makes us hold more than a domain can have."""

    def __init__(self) -> None:
        self._records = 0
        self._bytes = 0

    def count(self, rrset: dns.rrset.RRset) -> None:
        self._records += len(rrset)
        self._bytes += sum(len(getattr(rdata, "strings", ())) * 255 + 64 for rdata in rrset)
        if self._records > MAX_RECORDS * _SLACK or self._bytes > MAX_BYTES:
            raise TransferRefusedError("The zone is too large.")
