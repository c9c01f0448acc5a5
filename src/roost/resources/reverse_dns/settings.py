"""What an operator sets of reverse DNS (docs/dns.md)."""

from collections.abc import Callable
from dataclasses import dataclass

from roost.resources.domains.settings import Server
from roost.resources.reverse_dns.rules import Network

_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ReverseDns:
    """One for all regions."""

    suffix: str
    """The zone of default names, without the final period."""
    pools: tuple[Network, ...]
    """Of the catalogue: public IPv4 addresses, and the /64 of each region."""
    resolver: Callable[[], Server]
    """Who is asked what a name resolves to."""

    async def resolves(self, name: str, address: str) -> bool:
        """Whether a name has this address (spec B networking 4)."""
        # Seldom needed, and slow to load.
        import dns.asyncresolver

        resolver, server = dns.asyncresolver.Resolver(configure=False), self.resolver()
        resolver.nameservers, resolver.port = [server.host], server.port
        resolver.lifetime, resolver.cache = _SECONDS, None
        kind = "AAAA" if ":" in address else "A"
        absolute = dns.name.from_text(name)
        try:
            answer = await resolver.resolve(absolute, kind, search=False)
        except (dns.exception.DNSException, OSError):
            return False
        return address in {str(record) for record in answer}
