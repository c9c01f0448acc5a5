"""NodeBalancers of a region: one HAProxy for all of them, in the namespace of its guests' gateway.

What was applied is kept in a folder of the host that ends with its kernel, with certificates and
their keys, so that no disk has them: after that the watch brings all of it again.
"""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError

from roost.core.engine import EngineError, Health
from roost.engines.locks import locked
from roost.engines.qemu.balancers import stats
from roost.engines.qemu.balancers.addresses import Addresses
from roost.engines.qemu.balancers.config import backend_name, pem_path, render, server_name
from roost.engines.qemu.balancers.server import Server
from roost.engines.qemu.balancers.sessions import Gone, end_sessions
from roost.engines.qemu.host.programs import faults
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.namespace import identity
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.nodebalancers.engine import (
    BalancerSpec,
    BalancerState,
    BalancerTraffic,
    NodeStatus,
)
from roost.threads import DISK

_log = structlog.get_logger(__name__)

RUN = Path("/run/roost-balancers")
_DOING = "The NodeBalancer could not be changed"
_SEEING = "The region's NodeBalancers cannot be seen"
_WATCH_SECONDS = 0.5
_SPEC = TypeAdapter(BalancerSpec)


class HaproxyBalancers:
    """A BalancerEngine for the guests of a QemuInstances with the same `state_dir`; needs root."""

    name = "haproxy"

    def __init__(self, state_dir: Path, network: NetworkConfig) -> None:
        self._network = GuestNetwork(state_dir.resolve(), network)
        self._folder = RUN / self._network.name
        self._server = Server(self._folder, self._network.name)
        self._addresses = Addresses(
            self._network.name, [gateway.network for gateway in network.ipv4]
        )
        self._task: asyncio.Task[None] | None = None

    async def apply(self, balancer: BalancerSpec) -> None:
        await self._change(lambda held: {**held, balancer.id: balancer})

    async def remove(self, balancer_id: int) -> None:
        if self._folder.is_dir():
            await self._change(lambda held: {k: v for k, v in held.items() if k != balancer_id})

    async def inspect(self, balancer_id: int) -> BalancerState | None:
        return next((each for each in await self.list() if each.id == balancer_id), None)

    async def list(self) -> list[BalancerState]:
        """Nothing is in force of what the server does not have."""
        held = self._read()
        if not held:
            return []
        with faults(_SEEING):
            wanted, _ = render(self._folder, self._server.socket, held.values())
            serves = self._server.process() is not None
            serves = serves and await stats.in_force(self._server.master) == wanted
            present = await self._addresses.held() if serves else set()
        return [
            BalancerState(each.id, each.digest if each.address in present else None)
            for each in sorted(held.values(), key=lambda each: each.id)
        ]

    async def statuses(self) -> Mapping[int, NodeStatus]:
        if not self._read():
            return {}
        shown = stats.rows(await stats.ask_worker(self._server.master, "show stat"))
        return {
            int(row["svname"][1:]): stats.status_of(row)
            for row in shown
            if row["svname"][:1] == "n" and row["svname"][1:].isdecimal()
        }

    async def traffic(self) -> Mapping[int, BalancerTraffic]:
        held = self._read()
        if not held:
            return {}
        owners = {config.id: each.id for each in held.values() for config in each.configs}
        connections = dict.fromkeys(held, 0)
        for row in stats.rows(await stats.ask_worker(self._server.master, "show stat")):
            if row["svname"] == "FRONTEND" and row["pxname"][1:].isdecimal():
                owner = owners.get(int(row["pxname"][1:]))
                if owner is not None:  # Else its config was made or deleted just now.
                    connections[owner] += int(row["stot"])
        counted, epoch = await self._addresses.counted(), identity(self._network.name) or ""
        return {
            each: BalancerTraffic(epoch, connections[each], *counted.get(each, (0, 0)))
            for each in held
        }

    async def keep_serving(self) -> None:
        """And from now on, for as long as this process lives."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep())
        if self._read():
            await self._change(lambda held: held)

    async def health(self) -> Health:
        held = self._read()
        if held and self._server.process() is None:
            return Health(False, "HAProxy does not run")
        return Health(True, "HAProxy")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def shut_down(self) -> None:
        await self.close()
        with faults(_DOING), suppress(FileNotFoundError):  # Another process may do so, too.
            async with locked(self._folder):
                await self._server.end()
                if identity(self._network.name) is not None:
                    with suppress(EngineError):  # The network may be going, too.
                        await self._addresses.bring({})
                await DISK.run(shutil.rmtree, self._folder)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if self._server.process() is None and self._read():
                _log.warning("haproxy_is_gone", network=self._network.name)
                with suppress(EngineError, FileNotFoundError):  # Somebody shuts it down.
                    await self._change(lambda held: held)

    async def _change(
        self, change: Callable[[Mapping[int, BalancerSpec]], Mapping[int, BalancerSpec]]
    ) -> None:
        """All or nothing: what HAProxy refuses changes nothing. What does not change is brought
        again, as somebody may have taken it away."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._task is None:
            self._task = asyncio.create_task(self._keep())
        async with locked(self._folder):
            before = self._read()
            after = change(before)
            if not after and not before:
                return
            if identity(self._network.name) is None:
                await self._network.ensure()
            with faults(_DOING):
                digest = await self._write(after)
                anew = before == after or self._server.process() is None
                had, have = _nodes(before), _nodes(after)
                places = {place for place, _ in have}
                if anew or not have <= had:
                    await self._addresses.admit(places | {place for place, _ in had})
                wanted = {each.id: each.address for each in after.values()}
                if anew or wanted != {each.id: each.address for each in before.values()}:
                    await self._addresses.bring(wanted)
                if after:
                    await self._server.serve(digest)
                else:
                    await self._server.end()
                if gone := had - have:
                    await self._addresses.admit(places)
                    if after:
                        await end_sessions(self._server.master, {name for _, name in gone})
            self._note(before, after)

    async def _write(self, held: Mapping[int, BalancerSpec]) -> str:
        """The configuration, when HAProxy takes it."""
        for config in (config for each in held.values() for config in each.configs):
            if config.protocol == "https":
                pem = f"{config.certificate}\n{config.private_key}\n"
                _write(pem_path(self._folder, config), pem.encode())
        digest, text = render(self._folder, self._server.socket, held.values())
        new, own = self._server.config.with_suffix(".new"), self._server.config
        if not own.exists() or own.read_text() != text:
            _write(new, text.encode())
            if held:
                await self._server.check(new)
            new.replace(own)
        return digest

    def _note(self, before: Mapping[int, BalancerSpec], after: Mapping[int, BalancerSpec]) -> None:
        """What is in force now; certificates that are not, go."""
        for balancer_id, each in after.items():
            if before.get(balancer_id) != each:
                _write(self._folder / f"b{balancer_id}.json", _SPEC.dump_json(each))
        for balancer_id in before.keys() - after.keys():
            self._folder.joinpath(f"b{balancer_id}.json").unlink(missing_ok=True)
        kept = {
            pem_path(self._folder, config)
            for each in after.values()
            for config in each.configs
            if config.protocol == "https"
        }
        for path in self._folder.glob("c*.pem"):
            if path not in kept:
                path.unlink(missing_ok=True)

    def _read(self) -> dict[int, BalancerSpec]:
        found = list[BalancerSpec]()
        for path in self._folder.glob("b*.json"):
            # What a former version wrote, the watch brings anew; another process may take one away.
            with suppress(ValidationError, FileNotFoundError):
                found.append(_SPEC.validate_json(path.read_bytes()))
        return {each.id: each for each in sorted(found, key=lambda each: each.id)}


def _nodes(held: Mapping[int, BalancerSpec]) -> set[tuple[tuple[str, int], Gone]]:
    """Where each node is, and as what HAProxy has it."""
    return {
        ((node.address, node.port), (backend_name(config.id), server_name(node.id)))
        for each in held.values()
        for config in each.configs
        for node in config.nodes
    }


def _write(path: Path, content: bytes) -> None:
    """For nobody else to read, and never seen half written."""
    partial = path.with_name(f"{path.name}.part")
    partial.touch(mode=0o600)
    partial.write_bytes(content)
    partial.replace(path)
