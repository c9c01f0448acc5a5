"""Instances as the operator sees them: rows, guests and what is being done."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from roost.app.engines import bind_plane
from roost.app.operator.happenings import last_events, unfinished_jobs
from roost.app.terminal import Shown, fields
from roost.clock import Clock
from roost.core.catalog import load
from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.errors import OperatorError
from roost.resources.compute.engine import INSTANCE_PLANE, InstanceEngine
from roost.resources.compute.listing_queries import (
    ListedInstance,
    Wanted,
    list_disks,
    list_instances,
)
from roost.resources.compute.locks import resource_of
from roost.resources.volumes.queries import of_instance
from roost.settings import Settings
from roost.store import Queries
from roost.threads import DISK


class InstanceError(OperatorError):
    """There is no such instance, or its guest cannot be reached."""


async def describe(db: Queries, settings: Settings, compute_id: int) -> Shown:
    """An instance, its guest as its engine sees it, and what happens to it.

    Raises InstanceError.
    """
    row = await _find(db, compute_id)
    volumes = await of_instance(db, compute_id)
    return {
        **fields(row),
        "guest": await _guest(settings, row),
        "disks": [fields(disk) for disk in await list_disks(db, compute_id)],
        "volumes": [{"id": each.id, "label": each.label, "size": each.size} for each in volumes],
        "jobs": await unfinished_jobs(db, resource_of(compute_id)),
        "last_events": await last_events(db, row.account_id, "compute", compute_id),
    }


async def console(db: Queries, settings: Settings, compute_id: int, limit: int) -> str:
    """The last bytes that a guest wrote to its serial console. Raises InstanceError."""
    row = await _find(db, compute_id)
    try:
        async with _engine(settings, row) as engine:
            written = await engine.console(compute_id, limit)
    except EngineError as error:
        raise InstanceError(str(error)) from error
    return written.decode(errors="replace")


async def terminal(db: Queries, settings: Settings, compute_id: int) -> socket.socket:
    """A connection to a guest's serial console, both ways. Raises InstanceError."""
    row = await _find(db, compute_id)
    try:
        async with _engine(settings, row) as engine:
            return await engine.terminal(compute_id)
    except EngineError as error:
        raise InstanceError(str(error)) from error


async def _find(db: Queries, compute_id: int) -> ListedInstance:
    found = await list_instances(db, Wanted(compute_id=compute_id, limit=1))
    if not found:
        raise InstanceError(f"there is no instance {compute_id}")
    return found[0]


async def _guest(settings: Settings, row: ListedInstance) -> Shown:
    try:
        async with _engine(settings, row) as engine:
            state = await engine.inspect(row.id)
    except (EngineError, OperatorError) as error:
        return {"power": "unknown", "fault": str(error)}
    if state is None:
        return {"power": "none"}
    return {
        "power": state.power,
        "process": state.process,
        "memory": state.memory,
        "vcpus": state.vcpus,
        "disks": [disk.id for disk in state.disks],
    }


@asynccontextmanager
async def _engine(settings: Settings, row: ListedInstance) -> AsyncIterator[InstanceEngine]:
    """What holds the guest. Raises EngineError where this process does not have that engine."""
    catalog = await DISK.run(load, settings.catalog)
    bindings = await bind_plane(settings, catalog, Clock(), INSTANCE_PLANE, row.region)
    engines = Engines(bindings, settings.host)
    try:
        yield engines.on_host(INSTANCE_PLANE, row)
    finally:
        for binding in engines.bindings:
            await binding.engine.close()
