"""Firewalls of guests: in the region's namespace, and in those of VPCs that have guests.

The kernel has the truth. A file for each firewall says which rules were written, and what each
kernel table made of them, by which a change behind our back shows. It has the whole firewall, too,
where that filters in VPCs, so that one that is made for its first guest has its firewalls first.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Network
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from roost.engines.locks import locked
from roost.engines.qemu.host.programs import failure, run
from roost.engines.qemu.network import tables
from roost.engines.qemu.network.config import network_name, vpc_name, vpc_names
from roost.engines.qemu.network.namespace import namespace_path, within
from roost.engines.qemu.network.rules import inside_firewalls
from roost.engines.qemu.network.tables import Held, NoTableError
from roost.resources.firewalls.engine import FirewallSpec, FirewallState
from roost.threads import DISK

_T = TypeVar("_T")
_DOING = "The firewall could not be changed"


@dataclass(frozen=True, slots=True)
class _Note:
    rules: str
    """The digest of those that were written."""
    kernel: dict[str, str]
    """What the kernel made of them, by namespace."""
    spec: FirewallSpec | None = None
    """Of a firewall that filters in VPCs."""


_NOTE = TypeAdapter(_Note)
_Namespaces = Mapping[str, Mapping[int, Held]]


class Filters:
    """The filters of one region, which several processes may change at once."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._directory = state_dir / "network" / "firewalls"
        self._region = network_name(state_dir)

    async def write(self, firewall: FirewallSpec) -> None:
        """Put it in force wherever there are guests. NoTableError, or FileNotFoundError without a
        network; EngineError."""
        async with self._locked():
            public = replace(firewall, inside=frozenset())
            kernel = {self._region: await _within(self._region, partial(tables.write, public))}
            for name, vpc_id in self._vpcs().items():
                if own := _inside(firewall, vpc_id):
                    kernel[name] = await _write_inside(name, firewall, own)
                else:
                    await _within(name, partial(_erase, firewall.id))
            spec = firewall if firewall.inside else None
            await self._note(firewall.id, _Note(firewall.rules.digest, kernel, spec))

    async def erase(self, firewall_id: int) -> None:
        async with self._locked():
            for name in self._namespaces():
                await _within(name, partial(_erase, firewall_id))
            self._path(firewall_id).unlink(missing_ok=True)

    async def bring(self, vpc_id: int) -> None:
        """Put in force in a VPC what is to filter there: before a guest of it says anything."""
        name = vpc_name(self._state_dir, vpc_id)
        await _make_table(name, ())
        async with self._locked():
            notes = await DISK.run(_read_notes, self._directory)
            for note in notes.values():
                if note.spec is not None and (own := _inside(note.spec, vpc_id)):
                    digest = await _write_inside(name, note.spec, own)
                    kernel = {**note.kernel, name: digest}
                    await self._note(note.spec.id, replace(note, kernel=kernel))

    async def read(self, firewall_id: int | None = None) -> list[FirewallState]:
        """What the kernel has of all firewalls, or of one, by id."""
        work = _read_all if firewall_id is None else partial(_read_one, firewall_id)
        if not namespace_path(self._region).exists():
            return []
        async with self._locked():
            notes = await DISK.run(_read_notes, self._directory)
            held = {name: await _within(name, work) for name in self._namespaces()}
        ids = {key for each in held.values() for key in each}
        return [self._state(key, held, notes.get(key)) for key in sorted(ids)]

    def _state(self, firewall_id: int, held: _Namespaces, note: _Note | None) -> FirewallState:
        """In a VPC without guests a firewall is what it will be there."""
        found = {name: each[firewall_id] for name, each in held.items() if firewall_id in each}
        digests = {name: each.digest for name, each in found.items()}
        public = found.pop(self._region, Held())
        vpcs = self._vpcs()
        inside = {(vpcs[name], each) for name, vpc in found.items() for each in vpc.addresses}
        spec = None if note is None else note.spec
        if spec is not None:
            inside |= {pair for pair in spec.inside if pair[0] not in vpcs.values()}
        kept = note is not None and digests == {n: d for n, d in note.kernel.items() if n in held}
        rules = note.rules if note is not None and kept else None
        return FirewallState(firewall_id, rules, frozenset(public.addresses), frozenset(inside))

    def _vpcs(self) -> dict[str, int]:
        """Namespaces of VPCs that there are."""
        names = vpc_names(self._state_dir)
        return {name: int(name.rpartition("-vpc")[2]) for name in names}

    def _namespaces(self) -> list[str]:
        region = [self._region] if namespace_path(self._region).exists() else []
        return [*region, *self._vpcs()]

    def _path(self, firewall_id: int) -> Path:
        return self._directory / str(firewall_id)

    async def _note(self, firewall_id: int, note: _Note) -> None:
        await DISK.run(_write_note, self._path(firewall_id), note)

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        await DISK.run(partial(self._directory.mkdir, parents=True, exist_ok=True))
        async with locked(self._directory):
            yield


def _inside(firewall: FirewallSpec, vpc_id: int) -> frozenset[str]:
    """The addresses and networks that a firewall filters in a VPC."""
    return frozenset(address for vpc, address in firewall.inside if vpc == vpc_id)


async def _write_inside(name: str, firewall: FirewallSpec, addresses: frozenset[str]) -> str:
    wanted = {IPv4Network(each).prefixlen for each in addresses if "/" in each}
    await _make_table(name, wanted)
    own = replace(firewall, addresses=addresses, inside=frozenset())
    return await _within(name, partial(tables.write, own))


async def _make_table(name: str, lengths: Iterable[int]) -> None:
    rules = inside_firewalls({*lengths, *await _within(name, tables.lengths)})
    await run(_DOING, "nsenter", f"--net={namespace_path(name)}", "nft", "-f", "-", feed=rules)


async def _within(name: str, work: Callable[[], _T]) -> _T:
    if not namespace_path(name).exists():
        raise FileNotFoundError(name)
    try:
        return await within(name, work)
    except OSError as error:
        raise failure(_DOING, error) from error


def _erase(firewall_id: int) -> None:
    with suppress(FileNotFoundError):  # The table is gone, and all firewalls with it.
        tables.erase(firewall_id)


def _read_one(firewall_id: int) -> dict[int, Held]:
    try:
        held = tables.read(firewall_id)
    except NoTableError:
        return {}
    return {} if held is None else {firewall_id: held}


def _read_all() -> dict[int, Held]:
    try:
        return tables.read_all()
    except NoTableError:
        return {}  # Whatever is there filters nothing.


def _write_note(path: Path, note: _Note) -> None:
    """Whole or not at all."""
    new = path.with_suffix(".new")
    new.write_bytes(_NOTE.dump_json(note))
    new.replace(path)


def _read_notes(directory: Path) -> dict[int, _Note]:
    """One of an earlier release, or half of one, is none: its firewall is written anew."""
    found = dict[int, _Note]()
    for path in directory.iterdir():
        if path.name.isdecimal():
            with suppress(ValueError):
                found[int(path.name)] = _NOTE.validate_json(path.read_bytes())
    return found
