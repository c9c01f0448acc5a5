"""Where database servers listen, and what clients call them."""

from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address

from roost.core.planes import Site
from roost.resources.databases.engine import HostName, Hosts, host_name

_LOOPBACK, _BESIDE = "127.0.0.1", "127.0.0.2"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where servers listen, and what clients call them."""

    listen: str
    name: str | None
    """What all are called alike; None: each has a name of its own."""
    replicas_listen: str | None
    """Where the replicas of clusters are reached; None: nowhere."""
    replicas_name: str | None
    zone: str
    """Of names of their own."""

    @classmethod
    def of(
        cls,
        listen: str,
        name: str | None,
        replicas: str | None,
        replicas_name: str | None,
        zone: str,
    ) -> "Addresses":
        """On the loopback interface there is always an address for the replicas too."""
        beside = _BESIDE if listen == _LOOPBACK else None
        return cls(listen, name, replicas or beside, replicas_name, zone)

    @property
    def can_forward(self) -> bool:
        """Whether packets for it can be handed to another port of it."""
        address = ip_address(self.listen)
        return isinstance(address, IPv4Address) and not address.is_unspecified

    def hosts(self, database_id: int, cluster_size: int) -> Hosts:
        """A name leads to where they listen, if that is one address."""
        own, replicas = (host_name(database_id, self.zone, replicas=each) for each in (False, True))
        primary = _host(self.name, own, self.listen)
        if cluster_size == 1 or self.replicas_listen is None:
            return Hosts(primary, None)
        return Hosts(primary, _host(self.replicas_name, replicas, self.replicas_listen))

    def certified(self, database_id: int, cluster_size: int) -> tuple[str, ...]:
        """Names and addresses of its certificates."""
        names = (host.name for host in self.hosts(database_id, cluster_size).all)
        addresses = (self.listen, self.replicas_listen)
        found = (*names, *(each for each in addresses if each is not None))
        return tuple(dict.fromkeys(found))


def _host(common: str | None, own: str, listen: str) -> HostName:
    if common is not None or ip_address(listen).is_unspecified:
        return HostName(common or listen, None)
    return HostName(own, listen)


def addresses_of(site: Site) -> Addresses:
    """What the operator has set for the databases of a region."""
    settings = site.settings
    return Addresses.of(
        settings.databases_listen,
        settings.databases_host,
        settings.databases_replicas_listen,
        settings.databases_replicas_host,
        f"{site.region.id}.{settings.databases_domain}",
    )
