"""What two hosts tell each other about a guest that goes from one to the other while it runs.

Most of it is from the guest's QEMU, which the guest may have taken over: nothing of it becomes part
of a command or a path but in the forms that are checked here.
"""

import hashlib
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from roost.engines.qemu.boot.command import Accelerator
from roost.engines.qemu.guests.devices import Format

_PROCESSORS = Path("/proc/cpuinfo")
_TELLING = ("vendor_id", "cpu family", "model", "stepping", "flags")

Port = Annotated[int, Field(ge=1, le=65535)]
Secret = Annotated[str, Field(pattern="^[0-9a-f]{64}$", repr=False)]
Bytes = Annotated[int, Field(ge=0, lt=1 << 53)]


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    address: IPv4Address | IPv6Address
    secret: Secret
    """The key of both sides' TLS."""


class OfferedDisk(BaseModel):
    """One of the guest's own."""

    model_config = ConfigDict(frozen=True)

    id: int
    format: Format
    size: Bytes
    """As the guest sees it."""
    held: Bytes
    """Of the host, at most."""


class Offered(_Message):
    """By the host that the guest is on."""

    port: Port
    """Where its files are."""
    shape: str
    accelerator: Accelerator
    machine: str = Field(pattern=r"^pc-q35-\d+\.\d+(\.\d+)?$")
    processors: int = Field(ge=1, le=1024)
    processor: str
    """What kind of processor the guest knows that it has; without KVM all hosts have the same."""
    version: tuple[int, int]
    """Of QEMU."""
    disks: tuple[OfferedDisk, ...]
    luns: dict[int, Annotated[int, Field(ge=0, lt=1 << 14)]]
    """Of volumes, by their ids."""


class Receiver(_Message):
    """By the host that it is to go to."""

    disks_port: Port
    port: Port
    """For all else."""


def processor_of(accelerator: Accelerator) -> str:
    """Differs between hosts of which one cannot go on with what runs on the other."""
    if accelerator == "tcg":
        return ""
    first = _PROCESSORS.read_text().partition("\n\n")[0]
    lines = (line.partition(":") for line in first.splitlines())
    facts = sorted((key.strip(), value.strip()) for key, _, value in lines)
    telling = [fact for fact in facts if fact[0] in _TELLING]
    return hashlib.sha256(repr(telling).encode()).hexdigest()
