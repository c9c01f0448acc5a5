"""The deployment's DNS: its engine, and what an operator sets (docs/dns.md)."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address

from roost.resources.domains import name_rules, rules
from roost.resources.domains.engine import DomainEngine
from roost.web.fields import refuse

PRIVATE_REASON = "Must not be a private, loopback, link-local or multicast address"
OWN_REASON = "Must not be an address of this cloud's instances"
PORT_REASON = "Must be asked at port 53"
NAMESERVER_REASON = "Must be the name or the address of a name server, and a port after a colon"

_LONGEST = name_rules.MAX_NAME + len("[]:65535")
_PORT = 53
_WITH_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:]+))(?::([0-9]{1,5}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Server:
    """Another name server."""

    host: str
    """A name or an address."""
    port: int = _PORT

    @property
    def is_address(self) -> bool:
        return _is_address(self.host)


@dataclass(frozen=True, slots=True)
class Dns:
    """One for all regions."""

    engine: DomainEngine
    nameservers: tuple[str, ...]
    """Of every master zone, without the final period; the first one is its primary."""
    private_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """From which zones may be transferred although they are private, at any port."""
    pools: tuple[IPv4Network | IPv6Network, ...] = ()
    """Addresses of the deployment's own instances."""
    resolver: Server | None = None
    """Who is asked for addresses of other name servers; None: whom this machine asks."""
    reserved: frozenset[str] = frozenset()
    """Zones that the deployment serves itself: those of reverse DNS, and of default names."""

    def is_reserved(self, zone: str) -> bool:
        """Whether nobody can have a zone, which is in lower case.

        The operator may well have one above the name servers, to give them addresses.
        """
        servers = any(f".{zone}".endswith(f".{name}") for name in self.nameservers)
        return servers or related(zone, self.reserved)

    def is_allowed(self, address: str) -> bool:
        """Whether the operator has named the network of an address."""
        known = ip_address(address)
        return any(known in network for network in self.private_networks)

    def are_public(self, addresses: Iterable[str]) -> bool:
        """Whether the name server may ask or notify all of these."""
        return all(not rules.is_private(each) or self.is_allowed(each) for each in addresses)

    def check_public(self, address: str) -> None:
        if not self.are_public([address]):
            raise refuse(PRIVATE_REASON)

    def may_import_from(self, address: str, port: int) -> bool:
        """An import tells its user how it went: it reaches name servers outside only."""
        if self.is_allowed(address):
            return True
        is_own = any(ip_address(address) in pool for pool in self.pools)
        return port == _PORT and not is_own and not rules.is_private(address)

    def check_nameserver(self, text: str) -> None:
        """What a name resolves to is checked when it is asked."""
        server = parse_server(text)
        if server is None:
            raise refuse(NAMESERVER_REASON)
        if server.is_address and self.is_allowed(server.host):
            return
        if server.is_address:
            self.check_public(server.host)
            if not self.may_import_from(server.host, _PORT):
                raise refuse(OWN_REASON)
        if server.port != _PORT and (server.is_address or not self.private_networks):
            raise refuse(PORT_REASON)


def parse_server(text: str) -> Server | None:
    """`ns1.example.com`, `192.0.2.1:5353`, `2001:db8::1`, `[2001:db8::1]:53`; None for others."""
    if len(text) > _LONGEST:
        return None
    if _is_address(text):
        return Server(text)
    match = _WITH_PORT.fullmatch(text)
    if match is None:
        return None
    host, port = match[1] or match[2], int(match[3] or 53)
    if not 1 <= port <= 65535 or not (_is_address(host) or (_is_name(host) and not match[1])):
        return None
    return Server(host, port)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _is_name(text: str) -> bool:
    try:
        name_rules.check_host(text)
    except ValueError:
        return False
    return True


def related(zone: str, reserved: Collection[str]) -> bool:
    """Whether a zone is one of the reserved ones, or lies within or above one."""
    return any(
        zone == other or zone.endswith(f".{other}") or other.endswith(f".{zone}")
        for other in reserved
    )
