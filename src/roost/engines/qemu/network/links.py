"""The namespace, its bridge, and the cable between it and the host, as `ip -batch` commands."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.qemu.host.programs import failure, run
from roost.engines.qemu.network.config import (
    BRIDGE,
    METADATA,
    ROUTER,
    UPLINK,
    NetworkConfig,
    bridge_mac,
    ipv4_links,
    ipv6_link,
    network_name,
)
from roost.engines.qemu.network.host import Network, devices
from roost.engines.qemu.network.namespace import namespace_path, open_tap, within
from roost.engines.qemu.network.shaping import shape
from roost.resources.compute.live_engine import HostAddress

_DOING = "The network could not be set up"
_NETWORKS = Path("/proc/thread-self/net")
_ROUTE_FILES = ("route", "ipv6_route")
_REJECT = 0x0200
"""RTF_REJECT of linux/route.h."""
_UNUSED = "valid_lft forever preferred_lft 0"
"""The gateway itself says nothing from such an address unless it answers from it."""


async def ensure_namespace(name: str, set_up: Callable[[], None]) -> None:
    """Make the namespace, also in place of one that a crash left unusable."""
    if namespace_path(name).exists():
        try:
            await within(name, set_up)
            return
        except OSError:
            await run(_DOING, "ip", "netns", "delete", name)
    await run(_DOING, "ip", "netns", "add", name)
    await within(name, set_up)


async def ensure_links(
    state_dir: Path, config: NetworkConfig, source: HostAddress | None = None
) -> None:
    """Bridge with the gateways' addresses, and the host's routes to the pools, whose packets come
    from `source`; None: from the cable's own address."""
    name = network_name(state_dir)
    outside, inside = await devices(), await devices(name)
    cable = _cable(state_dir, outside)
    if name not in outside or UPLINK not in inside:
        await _plug_in(name, left_over=name in outside)
    await batch(_inside(state_dir, config, cable, BRIDGE in inside), name)
    await batch(_outside(state_dir, config, cable, source))


async def remove_links(name: str) -> None:
    """Remove the cable and the namespace with all that is in it."""
    if name in await devices():
        await run("The network could not be removed", "ip", "link", "delete", name)
    if namespace_path(name).exists():
        await run("The network could not be removed", "ip", "netns", "delete", name)


async def _plug_in(name: str, left_over: bool) -> None:
    if left_over:
        await run(_DOING, "ip", "link", "delete", name)
    cable = ("type", "veth", "peer", "name", UPLINK, "netns", name)
    await run(_DOING, "ip", "link", "add", name, *cable)


def _cable(state_dir: Path, outside: dict[str, list[Network]]) -> IPv4Network:
    """The /30 that the cable has, or else the first that no other device of the host uses."""
    for network in outside.get(network_name(state_dir), ()):
        if isinstance(network, IPv4Network):
            return network
    used = [network for networks in outside.values() for network in networks]
    for choice in ipv4_links(state_dir):
        if not any(network.version == 4 and choice.overlaps(network) for network in used):
            return choice
    raise EngineError(f"{_DOING}: no link-local addresses are left")


def _inside(state_dir: Path, config: NetworkConfig, cable: IPv4Network, has_bridge: bool) -> str:
    near, far = ipv6_link(state_dir)
    lines = [
        f"address replace {cable[2]}/{cable.prefixlen} dev {UPLINK}",
        f"address replace {far} dev {UPLINK} nodad",
        *(f"address replace {gateway} dev {BRIDGE}" for gateway in config.ipv4),
        f"address replace {config.ipv6} dev {BRIDGE} nodad",
        f"address replace {ROUTER} dev {BRIDGE} nodad",
        *(f"address replace {address} dev lo {_UNUSED}" for address in METADATA),
        *(f"link set {device} up" for device in ("lo", UPLINK, BRIDGE)),
        *(f"route replace unreachable {pool} dev lo" for pool in config.ranges),
        *_way_out(config, (cable[1], near.ip)),
    ]
    if not has_bridge:
        mac = bridge_mac(config)
        lines.insert(0, f"link add {BRIDGE} address {mac} type bridge mcast_snooping 0")
        lines.insert(1, f"link set {BRIDGE} addrgenmode none")
    return "\n".join(lines)


def _way_out(config: NetworkConfig, gateways: tuple[IPv4Address, IPv6Address]) -> Iterator[str]:
    """What is for nobody here goes to the host, or nowhere."""
    if config.uplink == "none":
        yield "route replace unreachable 0.0.0.0/0"
        yield "route replace unreachable ::/0 dev lo"
        return
    for network, gateway in zip(("0.0.0.0/0", "::/0"), gateways, strict=True):
        yield f"route replace {network} via {gateway} dev {UPLINK}"


async def close_pools(config: NetworkConfig, name: str) -> None:
    """Addresses of pools lead nowhere but for those that a guest has."""
    await batch("\n".join(f"route replace unreachable {each}" for each in _closing(config)), name)


async def are_closed(config: NetworkConfig, name: str) -> bool:
    held = await within(name, _unreachable)
    pools = (*(each.network for each in config.ipv4), *config.private, config.ipv6.network)
    return held.issuperset(pools)


def _closing(config: NetworkConfig) -> Iterator[str]:
    for each in (*(gateway.network for gateway in config.ipv4), *config.private):
        yield str(each)  # In place of the route that comes with the gateway's address.
    yield f"{config.ipv6.network} dev lo metric 1"  # Before that one.


def _unreachable() -> set[Network]:
    """Networks that lead nowhere; inside the namespace."""
    ipv4, ipv6 = (_NETWORKS.joinpath(each).read_text().splitlines() for each in _ROUTE_FILES)
    found = set[Network]()
    for line in ipv4[1:]:
        _, target, _, flags, _, _, _, mask, *_ = line.split()
        if int(flags, 16) & _REJECT:
            ends = (int.from_bytes(bytes.fromhex(each), "little") for each in (target, mask))
            found.add(IPv4Network("/".join(str(IPv4Address(each)) for each in ends)))
    for line in ipv6:
        target, length, *_, flags, _ = line.split()
        if int(flags, 16) & _REJECT:
            found.add(IPv6Network((int(target, 16), int(length, 16))))
    return found


def _outside(
    state_dir: Path, config: NetworkConfig, cable: IPv4Network, source: HostAddress | None
) -> str:
    name = network_name(state_dir)
    ours = {} if source is None else {source.version: f" src {source}"}
    from4, from6 = ours.get(4, ""), ours.get(6, "")
    near, far = ipv6_link(state_dir)
    return "\n".join(
        [
            f"address replace {cable[1]}/{cable.prefixlen} dev {name}",
            f"address replace {near} dev {name} nodad",
            f"link set {name} up",
            *(f"route replace {g.network} via {cable[2]} dev {name}{from4}" for g in config.ipv4),
            f"route replace {config.ipv6.network} via {far.ip} dev {name}{from6}",
            *(f"route replace {pool} via {far.ip} dev {name}{from6}" for pool in config.ranges),
        ]
    )


async def bring_to(name: str, device: str, mac: str) -> None:
    """Let the bridge know a guest's address before its first frame: what is for an address that it
    has not seen yet is some other guest's."""
    entry = ("fdb", "replace", mac, "dev", device, "master", "static")
    await run(_DOING, "bridge", "-n", name, *entry)


async def take_tap(name: str, device: str, settings: Sequence[str], rate: int | None = None) -> int:
    """The descriptor of a guest's device, which ends with it, with these settings before it is up.
    `rate`: Mbit/s that the guest may send.

    Rules that hold the guest to its addresses must be there before.
    """
    try:
        descriptor = await within(name, lambda: open_tap(device))
    except OSError as error:
        raise failure("The network attachment could not be made", error) from error
    try:
        if rate is not None:
            await shape(name, device, rate)
        lines = (f"link set {device} {setting}" for setting in (*settings, "up"))
        await batch("\n".join(lines), name)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


async def batch(commands: str, name: str | None = None) -> None:
    """Commands of `ip`, in a namespace or on the host."""
    inside = () if name is None else ("-n", name)
    await run(_DOING, "ip", *inside, "-batch", "-", feed=commands + "\n")


async def forget_routes(routes: Iterable[str], name: str) -> None:
    """Routes in a namespace, with whatever metric: an earlier release had others beside them."""
    lines = [f"route delete {each}" for each in routes for _ in range(2)]
    if lines:
        await remove_if_there(lines, name)


async def remove_if_there(commands: Iterable[str], name: str) -> None:
    """Commands of `ip` in a namespace, of which those fail that find nothing."""
    text = "\n".join(commands) + "\n"
    await run(_DOING, "ip", "-n", name, "-force", "-batch", "-", feed=text, ok=(0, 1))
