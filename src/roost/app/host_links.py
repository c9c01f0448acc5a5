"""What a worker takes from other hosts: guests and volumes that a job brings here."""

import re
import socket

import structlog

from roost.app.roost import Roost
from roost.core import instance_queries
from roost.core.engine import EngineError
from roost.core.hosts import queries
from roost.core.hosts.links import Content, Links, Parcel
from roost.core.planes import Engines
from roost.errors import OperatorError
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.queries import is_expected
from roost.resources.volumes import queries as volumes
from roost.resources.volumes.engine import VOLUME_PLANE

_ADDRESS = re.compile(r"(?P<host>[0-9A-Za-z.:\[\]-]{1,253}):(?P<port>[0-9]{1,5})")
_BACKLOG = 16

_log = structlog.get_logger(__name__)


class ListenError(OperatorError):
    """There is no listening at the address."""


async def take_in(roost: Roost) -> None:
    """Until it is cancelled; others know the address meanwhile. Raises ListenError."""
    name, wanted = roost.settings.host, roost.settings.host_listen
    if wanted is None:
        await queries.set_address(roost.store, name, None)
        return
    with _listen(wanted) as listening:
        host, port = listening.getsockname()[:2]
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        await queries.set_address(roost.store, name, address)
        _log.info("host_listens", host=name, address=address)

        async def take(parcel: Parcel, content: Content) -> None:
            await _take(roost, parcel, content)

        await roost.services.get(Links).serve(listening, take)


def _listen(wanted: str) -> socket.socket:
    found = _ADDRESS.fullmatch(wanted)
    if found is None:
        raise ListenError(f"ROOST_HOST_LISTEN must be ADDRESS:PORT, not {wanted}")
    host = found["host"].strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, int(found["port"])), family=family)
        listening.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        raise ListenError(f"cannot listen on {wanted}: {error}") from error
    return listening


async def _take(roost: Roost, parcel: Parcel, content: Content) -> None:
    """Only what a job is bringing here: what runs here already is never replaced."""
    if not await _is_expected(roost, parcel):
        raise EngineError("The other host does not expect the instance.")
    engines = roost.services.get(Engines)
    if parcel.plane == "instances":
        taker = engines.of(INSTANCE_PLANE, parcel.region)
        await taker.unpack(parcel.id, parcel.backups, content)
    else:
        await engines.of(VOLUME_PLANE, parcel.region).unpack(parcel.id, content)


async def _is_expected(roost: Roost, parcel: Parcel) -> bool:
    """Whether a parcel is of an instance on its way here, or a volume that one here is to have."""
    host = roost.settings.host
    if await is_expected(roost.store, parcel.compute_id, host):
        return True
    if parcel.plane != "volumes":
        return False
    instance = await instance_queries.find(roost.store, parcel.compute_id)
    volume = await volumes.find(roost.store, parcel.id)
    return (
        instance is not None
        and volume is not None
        and (volume.compute_id, instance.host) == (instance.id, host)
        and volume.host != host
    )
