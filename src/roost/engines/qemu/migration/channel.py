"""The way between two QEMUs: TCP with TLS, and a key that both have for this one move.

Who does not have it can neither read the guest's memory and disks nor put anything into them.
"""

import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from pydantic import BaseModel, TypeAdapter
from qemu.qmp.qmp_client import ExecuteError

from roost.engines.qemu.guests.devices import Options
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.monitor import Monitor
from roost.engines.qemu.guests.users import user_of
from roost.engines.qemu.migration.messages import Receiver
from roost.resources.compute.live_engine import HostAddress

KEYS = "transfer"
"""The folder of the key, in the guest's directory, and what QEMU calls it."""

_USERNAME = "roost"
_FILE = "keys.psk"
_LISTENER = "transfer"
_BACKLOG = 64

Side = Literal["server", "client"]


class _Object(BaseModel):
    name: str


_OBJECTS = TypeAdapter(list[_Object])


def new_secret() -> str:
    return secrets.token_hex(32)


def write_key(guest: Guest, secret: str) -> None:
    """Where the guest's user may read it: all that it opens is that guest's own."""
    folder = guest.directory / KEYS
    folder.mkdir(mode=0o750, exist_ok=True)
    os.chown(folder, 0, user_of(guest))
    descriptor = os.open(
        folder / _FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o640
    )
    with os.fdopen(descriptor, "w") as file:
        os.fchown(descriptor, 0, user_of(guest))
        file.write(f"{_USERNAME}:{secret}\n")


def forget_key(guest: Guest) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(guest.directory / KEYS)


def key_of(side: Side) -> Options:
    """For `object-add`, and for programs that take the same."""
    named: Options = {"username": _USERNAME} if side == "client" else {}
    return {"qom-type": "tls-creds-psk", "id": KEYS, "dir": KEYS, "endpoint": side, **named}


async def take_key(monitor: Monitor, side: Side) -> None:
    """Let QEMU have it, in place of one that it has."""
    await drop_key(monitor)
    await monitor.execute("object-add", key_of(side))


async def drop_key(monitor: Monitor) -> None:
    listed = await monitor.execute("qom-list", {"path": "/objects"})
    if KEYS in [each.name for each in _OBJECTS.validate_python(listed)]:
        await monitor.execute("object-del", {"id": KEYS})


async def serve(monitor: Monitor, address: HostAddress) -> int:
    """The port at which QEMU serves block nodes, once it has the key."""
    with _listener(address) as server:
        await monitor.pass_socket(server.fileno(), _LISTENER)
        port: int = server.getsockname()[1]
    where: Options = {"type": "fd", "data": {"str": _LISTENER}}
    await monitor.execute("nbd-server-start", {"addr": where, "tls-creds": KEYS})
    return port


async def stop_serving(monitor: Monitor) -> None:
    with suppress(ExecuteError):  # It does not serve.
        await monitor.execute("nbd-server-stop")


async def export(monitor: Monitor, node: str, *, writable: bool) -> None:
    """By the node's own name."""
    options: Options = {"type": "nbd", "id": node, "node-name": node, "writable": writable}
    await monitor.execute("block-export-add", options)


def remote(node: str, address: HostAddress, port: int) -> Options:
    """What another QEMU exports."""
    server: Options = {"type": "inet", "host": str(address), "port": str(port)}
    return {"driver": "nbd", "server": server, "export": node, "tls-creds": KEYS}


def uri(receiver: Receiver) -> str:
    """For the guest's memory."""
    return f"tcp:{in_uri(receiver.address)}:{receiver.port}"


def in_uri(address: HostAddress) -> str:
    return f"[{address}]" if address.version == 6 else str(address)


@contextmanager
def _listener(address: HostAddress) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family) as server:
        server.bind((str(address), 0))
        server.listen(_BACKLOG)
        yield server
