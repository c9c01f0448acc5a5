"""The ports of a server, which stay the same from start to start while they are free."""

from pathlib import Path

from pydantic import BaseModel

from roost.engines.listeners import free_listener, free_tcp_port


class Ports(BaseModel):
    """Both on the loopback address; `dns` is for where the operator says nothing else."""

    api: int
    dns: int


def read_ports(path: Path) -> Ports:
    """As they were last; chosen now by whoever comes first. Raises ListenerError."""
    try:
        return Ports.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return choose_ports(path)


def choose_ports(path: Path) -> Ports:
    """Remember free ones. Raises ListenerError."""
    ports = Ports(api=free_tcp_port(), dns=free_listener().port)
    partial = path.with_suffix(".part")
    partial.write_text(ports.model_dump_json())
    partial.replace(path)
    return ports
