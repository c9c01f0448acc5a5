"""What the host already has: its devices, addresses and routes."""

from ipaddress import IPv4Network, IPv6Network, ip_network

from pydantic import BaseModel, TypeAdapter

from roost.engines.qemu.host.programs import run

Network = IPv4Network | IPv6Network


class _Address(BaseModel):
    local: str
    prefixlen: int


class _Device(BaseModel):
    ifname: str
    addr_info: list[_Address] = []


class _Link(BaseModel):
    ifname: str
    master: str | None = None


class _Route(BaseModel):
    dst: str
    dev: str = ""


_DEVICES = TypeAdapter(list[_Device])
_LINKS = TypeAdapter(list[_Link])
_ROUTES = TypeAdapter(list[_Route])
_DOING = "The network could not be examined"


async def devices(namespace: str | None = None) -> dict[str, list[Network]]:
    """Networks of the addresses by device, of the host or of one of its namespaces."""
    inside = () if namespace is None else ("-n", namespace)
    text = await run(_DOING, "ip", *inside, "-json", "address")
    return {
        device.ifname: [
            ip_network(f"{address.local}/{address.prefixlen}", strict=False)
            for address in device.addr_info
        ]
        for device in _DEVICES.validate_json(text)
        if device.ifname
    }


async def masters(namespace: str) -> dict[str, str | None]:
    """Devices of a namespace, and the bridges that they are ports of."""
    text = await run(_DOING, "ip", "-n", namespace, "-json", "link")
    return {link.ifname: link.master for link in _LINKS.validate_json(text)}


async def overlap(pools: tuple[Network, ...], own_device: str) -> str | None:
    """Why the pools would take addresses that the host uses already, or None."""
    for route in await _routes():
        if route.dst == "default" or route.dev == own_device:
            continue
        taken = ip_network(route.dst)
        for pool in pools:
            if pool.version == taken.version and pool.overlaps(taken):
                return f"the pool {pool} overlaps {taken} on this host's device {route.dev}"
    return None


async def _routes() -> list[_Route]:
    """The routes of all tables, so that the host's own addresses are among them."""
    show = ("-json", "route", "show", "table", "all")
    ipv4 = _ROUTES.validate_json(await run(_DOING, "ip", "-4", *show))
    return ipv4 + _ROUTES.validate_json(await run(_DOING, "ip", "-6", *show))
