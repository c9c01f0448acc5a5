"""How many connections the server holds, in all and for each address."""

from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Protocol

_IPV6_SITE = 64
"""Bits of an IPv6 address that one customer of a provider can't choose."""


def origin(address: str) -> str:
    """Whom an address counts as: an IPv6 network of 64 bits is one stranger."""
    if ":" not in address:
        return address
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((int(parsed), _IPV6_SITE), strict=False).network_address)


class Networks:
    """Addresses and networks that an operator names; `*` is all."""

    def __init__(self, names: str) -> None:
        """With commas between them; raises ValueError."""
        parts = filter(None, (name.strip() for name in names.split(",")))
        self._networks = [
            network
            for name in parts
            for network in map(ip_network, ("0.0.0.0/0", "::/0") if name == "*" else (name,))
        ]

    def __contains__(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        plain = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
        return any((plain or parsed) in network for network in self._networks)


class Connection(Protocol):
    def drop(self) -> None:
        """End it at once."""


@dataclass(slots=True, eq=False)
class _Source:
    """The connections from one origin."""

    open: int = 0
    waiting: dict[Connection, None] = field(default_factory=dict)
    """Those on which nothing is being answered, the one that has waited longest first."""


class Connections:
    """Where a bound is met, the connection that has waited longest for a request makes room.

    So whoever opens more than they use loses the oldest of them, and who comes with a request is
    still answered; refused is a new connection only when all others are being answered.
    """

    def __init__(self, most: int, most_each: int, proxies: Networks) -> None:
        """`most_each` is for each origin but `proxies`: many callers come through one."""
        self._most = most
        self._most_each = most_each
        self._proxies = proxies
        self._sources: dict[str, _Source] = {}
        self._held: dict[Connection, str] = {}

    def __len__(self) -> int:
        return len(self._held)

    def enter(self, connection: Connection, address: str) -> bool:
        """Whether there is a place for a new connection; it waits for a request."""
        key = origin(address)
        source = self._sources.get(key)
        full = source is not None and source.open >= self._most_each
        if full and address not in self._proxies:
            if not self._evict(source):
                return False
        elif len(self._held) >= self._most and not self._evict(self._largest()):
            return False
        source = self._sources.setdefault(key, _Source())
        source.open += 1
        source.waiting[connection] = None
        self._held[connection] = key
        return True

    def begin(self, connection: Connection) -> None:
        """A request has come."""
        if key := self._held.get(connection):
            self._sources[key].waiting.pop(connection, None)

    def end(self, connection: Connection) -> None:
        """It has been answered."""
        if key := self._held.get(connection):
            self._sources[key].waiting[connection] = None

    def leave(self, connection: Connection) -> None:
        key = self._held.pop(connection, None)
        if key is None:
            return
        source = self._sources[key]
        source.open -= 1
        source.waiting.pop(connection, None)
        if not source.open:
            del self._sources[key]

    def _largest(self) -> _Source | None:
        """Who holds most of all that have a connection to spare."""
        spare = (source for source in self._sources.values() if source.waiting)
        return max(spare, key=lambda source: source.open, default=None)

    def _evict(self, source: _Source | None) -> bool:
        oldest = next(iter(source.waiting), None) if source is not None else None
        if oldest is None:
            return False
        self.leave(oldest)
        oldest.drop()
        return True
