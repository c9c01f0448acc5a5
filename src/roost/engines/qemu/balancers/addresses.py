"""The addresses of NodeBalancers in a region's namespace, what is counted there, and where HAProxy
may go."""

from collections.abc import Collection, Mapping
from ipaddress import IPv4Address, IPv4Network

from pydantic import BaseModel, TypeAdapter

from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.namespace import namespace_path

_TABLE = "inet roost_balancers"
_NODES = "nodes"
USER = "haproxy"
"""As which HAProxy runs."""
_OUTWARD = (
    f"meta skuid {USER} oifname != lo ct direction original"
    f" ip daddr . tcp dport != @{_NODES} reject with tcp reset"
)
"""Connections that HAProxy begins. Clients have begun theirs: it has the same address for both."""
_DOING = "The NodeBalancer could not be changed"
_SEEING = "What NodeBalancers move cannot be seen"


class _Counter(BaseModel):
    name: str
    bytes: int


class _Listed(BaseModel):
    counter: _Counter | None = None


class _Answer(BaseModel):
    nftables: list[_Listed]


class _Address(BaseModel):
    local: str


class _Device(BaseModel):
    addr_info: list[_Address] = []


_DEVICES = TypeAdapter(list[_Device])


class Addresses:
    """Of one namespace, and of the region's pools: it has others that are nobody's here."""

    def __init__(self, namespace: str, pools: Collection[IPv4Network]) -> None:
        self._namespace = namespace
        self._pools = pools

    async def admit(self, nodes: Collection[tuple[str, int]]) -> None:
        """HAProxy reaches these addresses and ports, and no others: neither does a worker that had
        others once, whoever has them by now."""
        members = ", ".join(f"{address} . {port}" for address, port in sorted(nodes))
        named = f"{_TABLE} {_NODES}"
        lines = [
            f"add table {_TABLE}",
            f"add set {named} {{ type ipv4_addr . inet_service; }}",
            f"flush set {named}",
            *([f"add element {named} {{ {members} }}"] if members else []),
        ]
        await self._nft("".join(f"{line}\n" for line in lines))

    async def bring(self, held: Mapping[int, str]) -> None:
        """Exactly these, by the ids of NodeBalancers; each is counted from its first packet on.

        Nodes have been admitted before.
        """
        await self._nft(_rules(held))
        if gone := (await self.counted()).keys() - held.keys():
            await self._nft(_forgetting(gone))
        wanted, present = set(held.values()), await self.held()
        inside = ("ip", "-n", self._namespace)
        await run(_DOING, *inside, "link", "set", "lo", "up")
        for address in sorted(wanted - present):
            await run(_DOING, *inside, "address", "add", f"{address}/32", "dev", "lo")
        for address in sorted(present - wanted):
            await run(_DOING, *inside, "address", "del", f"{address}/32", "dev", "lo")

    async def held(self) -> set[str]:
        """Those that there are."""
        inside = ("ip", "-n", self._namespace, "-json", "-4", "address", "show", "dev", "lo")
        shown = _DEVICES.validate_json(await run(_DOING, *inside) or "[]")
        found = {IPv4Address(each.local) for device in shown for each in device.addr_info}
        return {str(each) for each in found if any(each in pool for pool in self._pools)}

    async def counted(self) -> Mapping[int, tuple[int, int]]:
        """Bytes that came and went, by the ids of NodeBalancers."""
        inside = f"--net={namespace_path(self._namespace)}"
        text = await run(
            _SEEING, "nsenter", inside, "nft", "-j", "list", "counters", "table", *_TABLE.split()
        )
        found = dict[str, int]()
        for each in _Answer.model_validate_json(text).nftables:
            if each.counter is not None:
                found[each.counter.name] = each.counter.bytes
        ids = {int(name.partition("_")[2]) for name in found}
        return {each: (found[f"in_{each}"], found[f"out_{each}"]) for each in ids}

    async def _nft(self, rules: str) -> None:
        inside = f"--net={namespace_path(self._namespace)}"
        await run(_DOING, "nsenter", inside, "nft", "-f", "-", feed=rules)


def _rules(held: Mapping[int, str]) -> str:
    """Counters of these go on through any change."""
    lines = [f"add table {_TABLE}"]
    for chain, hook in (("arriving", "input"), ("leaving", "output")):
        lines.append(
            f"add chain {_TABLE} {chain} {{ type filter hook {hook} priority -10; policy accept; }}"
        )
        lines.append(f"flush chain {_TABLE} {chain}")
    for balancer_id, address in sorted(held.items()):
        for way, chain, ends in (
            ("in", "arriving", f"ct direction original ip daddr {address}"),
            ("out", "leaving", f"ct direction reply ip saddr {address}"),
        ):
            name = f"{way}_{balancer_id}"
            lines.append(f"add counter {_TABLE} {name}")
            lines.append(f"add rule {_TABLE} {chain} {ends} counter name {name}")
    if held:
        lines.append(f"add rule {_TABLE} leaving {_OUTWARD}")
    return "".join(f"{line}\n" for line in lines)


def _forgetting(ids: Collection[int]) -> str:
    """Nothing counts by their counters any more."""
    names = [f"{way}_{each}" for each in sorted(ids) for way in ("in", "out")]
    return "".join(f"delete counter {_TABLE} {name}\n" for name in names)
