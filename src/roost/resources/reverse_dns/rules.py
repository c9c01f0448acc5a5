"""Default names of addresses, and the zones in which names of addresses lie."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_ZONE_V4 = 24
"""Bits of the zones that are served: 256 names at most, so that a change is cheap."""


def default_name(address: str, suffix: str) -> str | None:
    """What a public IPv4 address is called (reference: IP address); IPv6 ones have no default."""
    if ":" in address:
        return None
    return f"{address.replace('.', '-')}.{suffix}"


def pointer(address: str) -> str:
    """The name of an address's PTR record, without the final period."""
    return ip_address(address).reverse_pointer


def zone_of(address: str, pools: Iterable[Network]) -> str | None:
    """The zone in which an address of a pool has its PTR record."""
    known = ip_address(address)
    for pool in pools:
        if known.version == pool.version and known in pool:
            return pool_zone(known, pool)
    return None


def pool_zone(address: Address, pool: Network) -> str:
    """IPv4: that of its 256 addresses. IPv6: that of the pool, in whole hexadecimal digits."""
    digits = address.reverse_pointer.split(".")
    if isinstance(address, IPv4Address):
        return ".".join(digits[1:])
    return ".".join(digits[32 - pool.prefixlen // 4 :])


def network_of(zone: str) -> Network:
    """The addresses whose names lie in a zone that `pool_zone` gave."""
    digits = zone.split(".")[:-2][::-1]
    if zone.endswith(".in-addr.arpa"):
        return IPv4Network(f"{'.'.join(digits)}.0/{_ZONE_V4}")
    return IPv6Network((int("".join(digits).ljust(32, "0"), 16), 4 * len(digits)))


def reserved(pools: Iterable[Network]) -> Iterator[str]:
    """The zones of whole pools, which users cannot have."""
    for pool in pools:
        step = 8 if pool.version == 4 else 4
        prefix = -(-pool.prefixlen // step) * step
        if isinstance(pool, IPv4Network) and prefix > _ZONE_V4:
            yield _zone(pool.supernet(new_prefix=_ZONE_V4))
        else:
            for part in pool.subnets(new_prefix=prefix):
                yield _zone(part)


def _zone(network: Network) -> str:
    whole, step = (4, 8) if network.version == 4 else (32, 4)
    digits = network.network_address.reverse_pointer.split(".")
    return ".".join(digits[whole - network.prefixlen // step :])
