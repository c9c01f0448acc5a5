"""Notes of what was set up in VPCs, one for each interface of a guest."""

from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from roost.engines.qemu.network.config import side_tap_name
from roost.resources.compute.network_engine import VpcLink


class VpcPort(BaseModel):
    """A guest's interface in a subnet."""

    compute_id: int
    number: int
    vpc_id: int
    subnet_id: int
    mac: str
    address: str
    public: str | None
    ranges: list[str]

    @classmethod
    def of(cls, compute_id: int, number: int, link: VpcLink) -> "VpcPort":
        return cls(
            compute_id=compute_id,
            number=number,
            vpc_id=link.vpc_id,
            subnet_id=link.subnet_id,
            mac=link.mac,
            address=str(link.interface.ip),
            public=None if link.public is None else str(link.public),
            ranges=[str(each) for each in link.ranges],
        )

    @property
    def tap(self) -> str:
        return side_tap_name(self.compute_id, self.number)


def subnet_name(subnet_id: int) -> str:
    """The name of the subnet's bridge."""
    return f"sub{subnet_id}"


def read_ports(directory: Path) -> list[VpcPort]:
    """By guest and interface; one that a crash left half written was never set up."""
    found = list[VpcPort]()
    for path in sorted(directory.glob("*.json")):
        with suppress(ValueError):
            found.append(VpcPort.model_validate_json(path.read_bytes()))
    return found


def write_port(directory: Path, port: VpcPort) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    _path(directory, port).write_text(port.model_dump_json())


def forget_port(directory: Path, port: VpcPort) -> None:
    _path(directory, port).unlink(missing_ok=True)


def _path(directory: Path, port: VpcPort) -> Path:
    return directory / f"{port.compute_id}.{port.number}.json"
