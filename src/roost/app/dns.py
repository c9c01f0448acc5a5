"""DNS as an operator sets it up: settings and the catalogue's pools, put together."""

from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from roost.core.catalog import Catalog
from roost.resources.domains.engine import DomainEngine
from roost.resources.domains.settings import Dns, Server, parse_server
from roost.resources.reverse_dns.rules import Network, reserved
from roost.resources.reverse_dns.settings import ReverseDns
from roost.settings import Settings


def put_together(
    settings: Settings, catalog: Catalog, engine: DomainEngine
) -> tuple[Dns, ReverseDns]:
    """Raises ValueError for a setting that is not valid."""
    pools, resolver = tuple(_pools(catalog)), _resolver(settings.rdns_resolver)
    suffix = settings.rdns_domain.lower().removesuffix(".")
    dns = Dns(
        engine,
        nameservers=_nameservers(settings.dns_nameservers),
        private_networks=_networks(settings.dns_private_networks),
        pools=pools,
        resolver=resolver,
        reserved=frozenset(
            (
                *(suffix, settings.databases_domain, *reserved(pools)),
                *(cluster.domain for cluster in catalog.entries.object_clusters),
            )
        ),
    )
    own = partial(_own_server, engine)
    return dns, ReverseDns(suffix, pools, own if resolver is None else lambda: resolver)


def _pools(catalog: Catalog) -> list[Network]:
    found: list[Network] = []
    for region in catalog.regions:
        found += [pool.cidr for pool in region.public_ipv4]
        found.append(region.ipv6.cidr)
    return found


def _nameservers(text: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower().removesuffix(".") for name in text.split(","))
    if not all(names):
        raise ValueError("ROOST_DNS_NAMESERVERS must name at least one name server")
    return names


def _networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())


def _resolver(text: str | None) -> Server | None:
    """The operator's choice."""
    if text is None:
        return None
    server = parse_server(text)
    if server is None or not server.is_address:
        raise ValueError("ROOST_RDNS_RESOLVER must be an address, and a port after a colon")
    return server


def _own_server(engine: DomainEngine) -> Server:
    """The deployment's own name server, which knows the zones that it holds. Where it answers may
    change: it takes another port when somebody else was quicker."""
    host, port = engine.listening[0]
    if ip_address(host).is_unspecified:
        host = "127.0.0.1" if ip_address(host).version == 4 else "::1"
    return Server(host, port)
