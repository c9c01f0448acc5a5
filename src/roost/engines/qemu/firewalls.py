"""Firewalls of guests, by nftables where their region's gateway forwards packets."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from roost.core.engine import EngineError, Health
from roost.engines.locks import locked
from roost.engines.qemu.network import tables
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.namespace import namespace_path, within
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.tables import Held, NoTableError
from roost.engines.qemu.programs import failure
from roost.resources.firewalls.engine import FirewallSpec, FirewallState
from roost.threads import DISK

_T = TypeVar("_T")
_DOING = "The firewall could not be changed"


class NftablesFirewalls:
    """A FirewallEngine for the guests of a QemuInstances with the same `state_dir`; needs root.

    The kernel has the truth. A file for each firewall says which rules were written, and what the
    kernel made of them, by which a change behind our back shows.
    """

    name = "nftables"

    def __init__(self, state_dir: Path, network: NetworkConfig) -> None:
        self._network = GuestNetwork(state_dir.resolve(), network)
        self._written = state_dir.resolve() / "network" / "firewalls"

    async def apply(self, firewall: FirewallSpec) -> None:
        if not firewall.addresses:
            raise EngineError("A firewall without addresses cannot be put in force")
        async with self._locked():
            digest = await self._in_table(partial(tables.write, firewall))
            note = f"{firewall.rules.digest} {digest}"
            await DISK.run((self._written / str(firewall.id)).write_text, note)

    async def remove(self, firewall_id: int) -> None:
        if not namespace_path(self._network.name).exists():
            return
        async with self._locked():
            await self._within(partial(_erase, firewall_id))
            (self._written / str(firewall_id)).unlink(missing_ok=True)

    async def inspect(self, firewall_id: int) -> FirewallState | None:
        if not namespace_path(self._network.name).exists():
            return None
        async with self._locked():
            held = await self._within(partial(_read, firewall_id))
            notes = await DISK.run(_read_notes, self._written)
        return None if held is None else _state(firewall_id, held, notes.get(firewall_id, ""))

    async def list(self) -> list[FirewallState]:
        if not namespace_path(self._network.name).exists():
            return []
        async with self._locked():
            held = await self._within(_read_all)
            notes = await DISK.run(_read_notes, self._written)
        return [_state(key, each, notes.get(key, "")) for key, each in sorted(held.items())]

    async def health(self) -> Health:
        problem = await self._network.problem()
        return Health(problem is None, problem or "nftables")

    async def close(self) -> None:
        """Nothing is held between calls."""

    async def _in_table(self, work: Callable[[], _T]) -> _T:
        """Work that needs the network, which is made or mended when it is not there."""
        try:
            return await self._within(work)
        except (FileNotFoundError, NoTableError):
            await self._network.ensure()
        try:
            return await self._within(work)
        except NoTableError:
            raise EngineError(f"{_DOING}: the network is being removed") from None

    async def _within(self, work: Callable[[], _T]) -> _T:
        if not namespace_path(self._network.name).exists():
            raise FileNotFoundError(self._network.name)
        try:
            return await within(self._network.name, work)
        except OSError as error:
            raise failure(_DOING, error) from error

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        await DISK.run(partial(self._written.mkdir, parents=True, exist_ok=True))
        async with locked(self._written):
            yield


def _erase(firewall_id: int) -> None:
    try:
        tables.erase(firewall_id)
    except FileNotFoundError:
        return  # The table is gone, and all firewalls with it.


def _read(firewall_id: int) -> Held | None:
    try:
        return tables.read(firewall_id)
    except NoTableError:
        return None


def _read_all() -> dict[int, Held]:
    try:
        return tables.read_all()
    except NoTableError:
        return {}  # Whatever is there filters nothing.


def _read_notes(directory: Path) -> dict[int, str]:
    return {int(path.name): path.read_text() for path in directory.iterdir()}


def _state(firewall_id: int, held: Held, note: str) -> FirewallState:
    rules, _, kernel = note.partition(" ")
    digest = rules if kernel == held.digest else None
    return FirewallState(firewall_id, digest, frozenset(held.addresses))
