"""The ports of a server, which stay the same from start to start while they are free."""

import socket
from itertools import chain, repeat
from pathlib import Path

from pydantic import BaseModel

from roost.engines.powerdns.config import Listener

_LOOPBACK = "127.0.0.1"
_USUAL = range(5300, 5400)
"""Where a person may expect a name server that is not on port 53."""
_OTHER_TRIES = 20


class Ports(BaseModel):
    """`dns` on the loopback address, where the operator says nothing else."""

    api: int
    dns: int


class NoPortError(Exception):
    """Nothing is free on the loopback address, or what the operator wants is not."""


def read_ports(path: Path) -> Ports:
    """As they were last; chosen now by whoever comes first. Raises NoPortError."""
    try:
        return Ports.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return write_ports(path)


def write_ports(path: Path) -> Ports:
    """Choose free ports. Raises NoPortError."""
    ports = Ports(api=_free_api_port(), dns=_free_dns_port())
    partial = path.with_suffix(".part")
    partial.write_text(ports.model_dump_json())
    partial.replace(path)
    return ports


def is_free(listener: Listener) -> bool:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    return all(
        _can_bind(family, kind, listener.host, listener.port)
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
    )


def api_is_free(port: int) -> bool:
    return _can_bind(socket.AF_INET, socket.SOCK_STREAM, _LOOPBACK, port)


def _free_api_port() -> int:
    with socket.create_server((_LOOPBACK, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _free_dns_port() -> int:
    for usual in chain(_USUAL, repeat(None, _OTHER_TRIES)):
        port = usual or _free_api_port()
        if is_free(Listener(_LOOPBACK, port)):
            return port
    raise NoPortError("no port for the name server is free on 127.0.0.1")


def _can_bind(family: int, kind: int, host: str, port: int) -> bool:
    with socket.socket(family, kind) as probe:
        if kind == socket.SOCK_STREAM:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
