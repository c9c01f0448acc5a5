"""nftables rules that let only those reach a database whom its allow list names.

Without connection tracking each packet is judged, so that a change cuts open connections too. The
rules of one state are a table of their own, of which each database has a chain.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from pathlib import Path

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.programs import run

_DOING = "The allow list could not be put in force"
EVERYBODY = "0.0.0.0/0"
_ENDS = 2
"""A cluster has at most: that of the primary, and that of the replicas."""

End = tuple[str, int]
"""Address and port."""


class Firewall:
    """Nothing is known here that the kernel does not know."""

    def __init__(self, root: Path) -> None:
        mark = sha256(str(root.absolute()).encode()).hexdigest()[:12]
        self._table = f"inet roost_databases_{mark}"

    async def allow(self, database_id: int, port: int, networks: tuple[str, ...]) -> None:
        """The rules of one database in place of those that it had, in one transaction."""
        table, chain = self._table, _chain(database_id)
        rules = "".join(f"add rule {table} {chain} {rule}\n" for rule in _rules(networks))
        await self._apply(
            f"add chain {table} {chain}\nflush chain {table} {chain}\n{rules}"
            f"add element {table} ports {{ {port} : jump {chain} }}\n"
        )

    async def forget(self, database_id: int, port: int) -> None:
        """Whether it has rules or not."""
        table, chain = self._table, _chain(database_id)
        element = f"{table} ports {{ {port} : jump {chain} }}"
        await self._apply(
            f"add chain {table} {chain}\nadd element {element}\ndelete element {element}\n"
            f"flush chain {table} {chain}\ndelete chain {table} {chain}\n"
        )

    async def allow_cluster(
        self, database_id: int, ports: Iterable[int], listen: str, networks: tuple[str, ...]
    ) -> None:
        """Who may reach the nodes of a cluster: clients come by what `open` forwards, and nodes to
        each other."""
        table, chain, nodes = self._table, _chain(database_id), f"nodes_{database_id}"
        rules = "".join(f"add rule {table} {chain} {rule}\n" for rule in _rules(networks))
        elements = ", ".join(f"{port} : jump {nodes}" for port in ports)
        await self._apply(
            f"add chain {table} {chain}\nflush chain {table} {chain}\n{rules}"
            f"add chain {table} {nodes}\nflush chain {table} {nodes}\n"
            f"add rule {table} {nodes} ct status dnat jump {chain}\n"
            f"add rule {table} {nodes} ip saddr {listen} accept\n"
            f"add rule {table} {nodes} reject with tcp reset\n"
            f"add element {table} ports {{ {elements} }}\n"
        )

    async def open(self, database_id: int, listen: str, ends: Mapping[End, Sequence[int]]) -> None:
        """Forward what comes to these ends to ports of `listen`, in turn; nobody where none is."""
        commands = ""
        for number, (end, ports) in enumerate(ends.items()):
            chain = f"{self._table} end_{database_id}_{number}"
            element = f"{self._table} ends {{ {end[0]} . {end[1]} : jump {chain.split()[-1]} }}"
            commands += f"add chain {chain}\nflush chain {chain}\nadd element {element}\n"
            if ports:
                turns = ", ".join(f"{turn} : {port}" for turn, port in enumerate(ports))
                target = f"{listen} : numgen inc mod {len(ports)} map {{ {turns} }}"
                commands += f"add rule {chain} meta l4proto tcp dnat ip to {target}\n"
        await self._apply(self._forwarding + commands)

    async def close(self, database_id: int) -> None:
        """Nobody is forwarded any more, until the next `open`."""
        commands = ""
        for number in range(_ENDS):
            chain = f"{self._table} end_{database_id}_{number}"
            commands += f"add chain {chain}\nflush chain {chain}\n"
        await self._apply(self._forwarding + commands)

    async def forget_cluster(
        self, database_id: int, ports: Iterable[int], ends: Iterable[End]
    ) -> None:
        """Whether it has rules or not."""
        table, nodes = self._table, f"nodes_{database_id}"
        commands = f"add chain {table} {nodes}\nadd chain {table} {_chain(database_id)}\n"
        for port in ports:
            element = f"{table} ports {{ {port} : jump {nodes} }}"
            commands += f"add element {element}\ndelete element {element}\n"
        for number, end in enumerate(ends):
            chain = f"end_{database_id}_{number}"
            element = f"{table} ends {{ {end[0]} . {end[1]} : jump {chain} }}"
            commands += (
                f"add chain {table} {chain}\nadd element {element}\ndelete element {element}\n"
                f"flush chain {table} {chain}\ndelete chain {table} {chain}\n"
            )
        for chain in (nodes, _chain(database_id)):
            commands += f"flush chain {table} {chain}\ndelete chain {table} {chain}\n"
        await self._apply(self._forwarding + commands)

    async def guarded(self) -> frozenset[int]:
        """The databases that have rules."""
        try:
            listing = ("nft", "list", "table", *self._table.split())
            text = await run(_DOING, listing, quiet=True)
        except EngineError:
            return frozenset()  # There is no table, as before the first database is ready.
        names = (line.split()[1] for line in text.splitlines() if "\tchain database_" in line)
        return frozenset(int(name.removeprefix("database_")) for name in names)

    async def remove(self) -> None:
        """All rules of the state."""
        await run(
            _DOING, ("nft", "-f", "-"), feed=SecretStr(f"{self._base}delete table {self._table}\n")
        )

    async def problem(self) -> str | None:
        """Why this host cannot filter packets, or None."""
        try:
            await run("nftables", ("nft", "--check", "-f", "-"), feed=SecretStr(self._base))
        except EngineError:
            return "nftables cannot filter packets here"
        return None

    @property
    def _base(self) -> str:
        """Can be applied again at any time; the databases' rules stay."""
        table = self._table
        return (
            f"add table {table}\n"
            f"add map {table} ports {{ type inet_service : verdict; }}\n"
            f"add chain {table} arriving"
            " { type filter hook input priority -10; policy accept; }\n"
            f"flush chain {table} arriving\n"
            f"add rule {table} arriving tcp dport vmap @ports\n"
        )

    @property
    def _forwarding(self) -> str:
        """The base of clusters: can be applied again at any time; their rules stay."""
        table = self._table
        hooks = "".join(
            f"add chain {table} {chain} {{ type nat hook {hook} priority -100; policy accept; }}\n"
            f"flush chain {table} {chain}\n"
            f"add rule {table} {chain} ip daddr . tcp dport vmap @ends\n"
            for chain, hook in (("forwarding", "prerouting"), ("forwarding_own", "output"))
        )
        ends = f"add map {table} ends {{ type ipv4_addr . inet_service : verdict; }}\n"
        return ends + hooks

    async def _apply(self, commands: str) -> None:
        await run(_DOING, ("nft", "-f", "-"), feed=SecretStr(self._base + commands))


def _rules(networks: tuple[str, ...]) -> Iterable[str]:
    """`0.0.0.0/0` means everybody (spec A database allow_list 2)."""
    if EVERYBODY in networks:
        yield "accept"
        return
    parsed = [ip_network(each) for each in networks]
    # What overlaps is refused in one set.
    ipv4 = collapse_addresses(each for each in parsed if isinstance(each, IPv4Network))
    ipv6 = collapse_addresses(each for each in parsed if isinstance(each, IPv6Network))
    for family, some in (("ip", list(ipv4)), ("ip6", list(ipv6))):
        if some:
            elements = ", ".join(map(str, some))
            yield f"{family} saddr {{ {elements} }} accept"
    yield "reject with tcp reset"


def _chain(database_id: int) -> str:
    return f"database_{database_id}"
