"""What one guest may send and what is brought to it: its filter, and the gateway's neighbours and
routes. What nobody has leads nowhere: else a guest that tries many addresses would fill the host's
table of neighbours, which all share.

The kernel has the truth. A file for each guest says what was written, and what the kernel made of
it, by which a change behind our back shows.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from roost.core.engine import EngineError
from roost.engines.locks import locked
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import BRIDGE, GUEST_METRIC
from roost.engines.qemu.network.links import batch, forget_routes
from roost.engines.qemu.network.namespace import namespace_path, read_taps, within
from roost.engines.qemu.network.rules import BASE, TABLE, chain_of, guest_rules, no_guest_rules
from roost.resources.compute.network_engine import GuestAddresses
from roost.threads import DISK

_DOING = "The addresses of the guest could not be changed"
_SEEING = "The addresses of guests cannot be seen"
_CHAIN = re.compile(r"^\tchain (guest_\d+) \{\n(.*?)^\t\}", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Note:
    """What was written for a guest, and the digest of the rules that the kernel has of it."""

    guest: GuestAddresses
    digest: str
    wanted: str = ""
    """The digest of the rules as they were written; of an earlier release they may be others."""


@dataclass(frozen=True, slots=True)
class _Leading:
    """A route to a guest: to an address of its, or to what is behind its SLAAC address."""

    network: str
    via: IPv6Address | None

    @property
    def text(self) -> str:
        via = "" if self.via is None else f" via {self.via}"
        return f"{self.network}{via} dev {BRIDGE}"


class _Neighbour(BaseModel):
    dst: IPv4Address | IPv6Address
    lladdr: str = ""


class _Route(BaseModel):
    dst: str
    gateway: IPv6Address | None = None


_NOTE = TypeAdapter(_Note)
_ROUTES = TypeAdapter(list[_Route])
_NEIGHBOURS = TypeAdapter(list[_Neighbour])


class Addressing:
    """The addresses of guests in one region's namespace, `name`; notes are kept in `directory`."""

    def __init__(self, name: str, directory: Path) -> None:
        self._name = name
        self._directory = directory

    async def write(self, guest: GuestAddresses) -> None:
        """Its rules in one transaction, then the gateway's neighbours."""
        async with self._locked():
            await self._nft(guest_rules(guest))
            await self._settle(guest.mac, _neighbours(guest))
            if (former := await self._written(guest.id)) is not None:
                await self._forget(guest.id, former, _leading(guest))
            await self._add(_leading(guest))
            text = await self._list("chain", TABLE, chain_of(guest.id))
            note = _Note(guest, _digests(text)[chain_of(guest.id)], _digest(guest_rules(guest)))
            await DISK.run(_write_note, self._directory / str(guest.id), note)

    async def erase(self, compute_id: int) -> None:
        """Also of a guest that has nothing."""
        async with self._locked():
            if (former := await self._written(compute_id)) is not None:
                await self._forget(compute_id, former, frozenset())
                await self._settle(former.mac, frozenset())
            await self._nft(BASE + no_guest_rules(compute_id))
            self._directory.joinpath(str(compute_id)).unlink(missing_ok=True)

    async def read(self) -> Mapping[int, GuestAddresses | None]:
        """The addresses of all attached guests; None for one that has others than were written."""
        async with self._locked():
            taps = await within(self._name, read_taps)
            try:
                text = await self._list("table", TABLE)
            except EngineError:
                text = ""  # The table is gone, and all filters with it.
            neighbours, routes = await self._neighbours(), await self._routes()
            notes = await DISK.run(_read_notes, self._directory)
        digests = _digests(text)
        found = dict[int, GuestAddresses | None]()
        for compute_id in taps:
            note, chain = notes.get(compute_id), chain_of(compute_id)
            held = note is not None and (
                note.wanted == _digest(guest_rules(note.guest))
                and digests.get(chain) == note.digest
                and f'"tap{compute_id}" : jump {chain}' in text
                and _of(neighbours, note.guest.mac) == _neighbours(note.guest)
                and _fit(routes, note.guest)
            )
            found[compute_id] = note.guest if note is not None and held else None
        return found

    async def _settle(self, mac: str, wanted: frozenset[IPv4Address | IPv6Address]) -> None:
        """Permanent entries: nobody asks the guest, and nobody else can answer."""
        held = _of(await self._neighbours(), mac)
        lines = [f"neigh delete {address} dev {BRIDGE}" for address in held - wanted]
        for address in wanted - held:
            lines.append(f"neigh replace {address} lladdr {mac} dev {BRIDGE} nud permanent")
        if lines:
            feed = "\n".join(lines) + "\n"
            await run(_DOING, "ip", "-n", self._name, "-batch", "-", feed=feed)

    async def lead(self) -> None:
        """To all guests that there are notes of."""
        async with self._locked():
            notes = await DISK.run(_read_notes, self._directory)
            await self._add({route for note in notes.values() for route in _leading(note.guest)})

    async def _written(self, compute_id: int) -> GuestAddresses | None:
        """What its note says that it has."""
        path = self._directory / str(compute_id)
        if not path.exists():
            return None
        return _NOTE.validate_json(await DISK.run(path.read_bytes)).guest

    async def _forget(
        self, compute_id: int, former: GuestAddresses, kept: frozenset[_Leading]
    ) -> None:
        """The routes that led to a guest, but for those kept, and those that others share."""
        left = _leading(former) - kept
        if former.shared and any(route.via is None for route in left):
            notes = await DISK.run(_read_notes, self._directory)
            others = (each.guest for key, each in notes.items() if key != compute_id)
            left -= {route for other in others for route in _leading(other)}
        gone = (each.text for each in sorted(left, key=_ranges_first))
        await forget_routes(gone, self._name)

    async def _add(self, routes: Collection[_Leading]) -> None:
        if routes:
            added = (each.text for each in sorted(routes, key=_ranges_first, reverse=True))
            lines = (f"route replace {each} metric {GUEST_METRIC}" for each in added)
            await batch("\n".join(lines), self._name)

    async def _routes(self) -> frozenset[_Leading]:
        found = set[_Leading]()
        for family in ("-4", "-6"):
            inside = ("ip", "-n", self._name, "-json", family, "route", "show", "dev", BRIDGE)
            shown = _ROUTES.validate_json(await run(_SEEING, *inside) or "[]")
            found |= {_Leading(each.dst, each.gateway) for each in shown}
        return frozenset(found)

    async def _neighbours(self) -> list[_Neighbour]:
        inside = ("ip", "-n", self._name, "-json", "neigh", "show", "dev", BRIDGE)
        text = await run(_SEEING, *inside, "nud", "permanent")
        return _NEIGHBOURS.validate_json(text or "[]")

    async def _nft(self, rules: str) -> None:
        inside = f"--net={namespace_path(self._name)}"
        await run(_DOING, "nsenter", inside, "nft", "-f", "-", feed=rules)

    async def _list(self, *what: str) -> str:
        inside = f"--net={namespace_path(self._name)}"
        words = " ".join(what).split()
        return await run(_SEEING, "nsenter", inside, "nft", "list", *words)

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        self._directory.mkdir(parents=True, exist_ok=True)
        async with locked(self._directory):
            yield


def _neighbours(guest: GuestAddresses) -> frozenset[IPv4Address | IPv6Address]:
    """Where a shared address is, its guests announce."""
    slaac = frozenset() if guest.ipv6 is None else frozenset({guest.ipv6})
    return guest.ipv4 - guest.shared | slaac


def _of(neighbours: list[_Neighbour], mac: str) -> frozenset[IPv4Address | IPv6Address]:
    return frozenset(each.dst for each in neighbours if each.lladdr == mac)


def _leading(guest: GuestAddresses) -> frozenset[_Leading]:
    """The routes to a guest."""
    slaac = frozenset() if guest.ipv6 is None else frozenset({guest.ipv6})
    own = {_Leading(str(each), None) for each in (*guest.ipv4, *guest.shared, *slaac)}
    return frozenset(own) | frozenset(_Leading(str(each), guest.ipv6) for each in guest.ranges)


def _fit(routes: frozenset[_Leading], guest: GuestAddresses) -> bool:
    """Whether these lead to a guest, and no ranges more."""
    wanted = _leading(guest)
    ranges = {each for each in routes if each.via is not None and each.via == guest.ipv6}
    return wanted <= routes and ranges <= wanted


def _ranges_first(route: _Leading) -> tuple[bool, str]:
    """They need the address that they are behind."""
    return route.via is None, route.network


def _digests(text: str) -> dict[str, str]:
    """The digests of guests' chains, from what nft lists."""
    return {name: _digest(body) for name, body in _CHAIN.findall(text)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _write_note(path: Path, note: _Note) -> None:
    """Whole or not at all."""
    new = path.with_suffix(".new")
    new.write_bytes(_NOTE.dump_json(note))
    new.replace(path)


def _read_notes(directory: Path) -> dict[int, _Note]:
    paths = (path for path in directory.iterdir() if path.name.isdecimal())
    return {int(path.name): _NOTE.validate_json(path.read_bytes()) for path in paths}
