"""What QEMU says of the machine that it runs, and of how far its memory has gone to another one."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from roost.engines.qemu.guests.devices import Options
from roost.engines.qemu.guests.monitor import Monitor

_MACHINE_SUFFIX = "-machine"
_UNLIMITED = 1 << 40
"""Bytes a second."""
_HALT_MILLISECONDS = 100
"""The guest is halted for the last part once that takes so long at most."""

MOVING = ("setup", "active", "pre-switchover", "device", "cancelling", "wait-unplug")

Capability = Literal["pause-before-switchover", "auto-converge", "return-path", "events"]


class Ram(BaseModel):
    """Bytes."""

    transferred: int
    remaining: int
    total: int


class _SocketAddress(BaseModel):
    port: Annotated[int, Field(strict=False)]


class Migration(BaseModel):
    """As `query-migrate` tells; nothing where there never was one."""

    status: str = "none"
    ram: Ram | None = None
    error: str = Field("", alias="error-desc")
    listening: list[_SocketAddress] = Field([], alias="socket-address")


class _State(BaseModel):
    status: str
    running: bool


class _Kvm(BaseModel):
    enabled: bool


class _Numbers(BaseModel):
    major: int
    minor: int


class _Version(BaseModel):
    qemu: _Numbers


class _Image(BaseModel):
    virtual_size: int = Field(alias="virtual-size")


class _Node(BaseModel):
    name: str = Field("", alias="node-name")
    driver: str = Field(alias="drv")
    image: _Image


_PROCESSORS = TypeAdapter(list[object])
_NODES = TypeAdapter(list[_Node])
_TEXT = TypeAdapter(str)
_NUMBER = TypeAdapter(int)


async def migration(monitor: Monitor) -> Migration:
    return Migration.model_validate(await monitor.execute("query-migrate"))


async def state(monitor: Monitor) -> _State:
    return _State.model_validate(await monitor.execute("query-status"))


async def uses_kvm(monitor: Monitor) -> bool:
    return _Kvm.model_validate(await monitor.execute("query-kvm")).enabled


async def machine_type(monitor: Monitor) -> str:
    """Such as `pc-q35-7.2`."""
    answer = await monitor.execute("qom-get", {"path": "/machine", "property": "type"})
    return _TEXT.validate_python(answer).removesuffix(_MACHINE_SUFFIX)


async def processors(monitor: Monitor) -> int:
    return len(_PROCESSORS.validate_python(await monitor.execute("query-cpus-fast")))


async def version(monitor: Monitor) -> tuple[int, int]:
    found = _Version.model_validate(await monitor.execute("query-version")).qemu
    return found.major, found.minor


async def sizes(monitor: Monitor) -> dict[str, int]:
    """In bytes, of block nodes by their names."""
    return {node.name: node.image.virtual_size for node in await _nodes(monitor)}


async def drivers(monitor: Monitor) -> set[str]:
    """Of block nodes, such as `raw` and `file`."""
    return {node.driver for node in await _nodes(monitor)}


async def _nodes(monitor: Monitor) -> list[_Node]:
    answer = await monitor.execute("query-named-block-nodes", {"flat": True})
    return _NODES.validate_python(answer)


async def lun(monitor: Monitor, device: str) -> int:
    place: Options = {"path": f"/machine/peripheral/{device}", "property": "lun"}
    return _NUMBER.validate_python(await monitor.execute("qom-get", place))


async def set_capabilities(monitor: Monitor, *names: Capability) -> None:
    """On both sides the same, where both know of it."""
    wanted: list[Options] = [{"capability": name, "state": True} for name in names]
    await monitor.execute("migrate-set-capabilities", {"capabilities": wanted})


async def set_parameters(monitor: Monitor, key: str, limit: int | None) -> None:
    """`key`: what QEMU calls that of TLS; `limit`: bytes a second while the guest runs."""
    parameters: Options = {
        "tls-creds": key,
        "tls-hostname": "",
        "max-bandwidth": _UNLIMITED if limit is None else limit,
        "downtime-limit": _HALT_MILLISECONDS,
    }
    await monitor.execute("migrate-set-parameters", parameters)
