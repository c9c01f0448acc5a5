"""Disks and volumes as a guest's QEMU has them: each is a block node and a SCSI disk of one name.

The same description serves the command line and, for a guest that runs, the monitor's
`blockdev-add` and `device_add`. QEMU opens the guest's own disks by their names; what a volume is
to it, its source knows (`roost.engines.qemu.volumes.sources`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from roost.engines.qemu.images.documents import Value
from roost.resources.compute.engine import SLOTS, Slot

SEED_LUN = 9
FIRST_LOOSE_LUN = 16
"""Volumes without a slot have this LUN and those behind it."""
SCSI_BUS = "scsi0.0"
_DISK = "disk-"
_VOLUME = "volume-"

Format = Literal["raw", "qcow2"]
Options = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Drive:
    """One disk of a guest."""

    name: str
    """Of the node and of the device, such as `disk-100001`."""
    format: Format
    file: "str | Options"
    """Its name, relative to the guest's directory, or the node that is below."""
    lun: int
    label: str | None = None
    """Of a volume: the end of its name under `/dev/disk/by-id`."""
    boots: bool = False
    """Whether the firmware boots from it."""

    def node(self) -> Options:
        """For `blockdev-add`."""
        return block_node(self.name, self.format, self.file)

    def device(self) -> Options:
        """For `device_add`.

        A fault of the host's disk, a full one too, is told to the guest as one of its own disk. By
        default QEMU would stop a guest on a full disk: it would seem to run, and answer nobody.

        A volume is removable, so that the guest locks it for as long as anything in it has it open.
        """
        volume: Options = {}
        if self.label is not None:
            identity = {"vendor": "Roost", "product": "Volume", "device_id": self.label}
            volume = {**identity, "removable": True}
        return {
            "driver": "scsi-hd",
            "id": self.name,
            "drive": self.name,
            "bus": SCSI_BUS,
            "scsi-id": 0,
            "lun": self.lun,
            "werror": "report",
            "rerror": "report",
            **volume,
            **({"bootindex": 1} if self.boots else {}),
        }

    def arguments(self) -> list[str]:
        """The arguments that add the device on a command line."""
        return ["-blockdev", json.dumps(self.node()), "-device", json.dumps(self.device())]


def block_node(name: str, image_format: Format, file: str | Options) -> Options:
    """A node that gives the host's disk back what the guest discards."""
    below = file_node(file) if isinstance(file, str) else file
    return {"driver": image_format, "node-name": name, "discard": "unmap", "file": below}


def file_node(name: str) -> Options:
    return {"driver": "file", "filename": name}


def disk_name(disk_id: int) -> str:
    return f"{_DISK}{disk_id}"


def disk_of(name: str) -> int | None:
    """The id of the disk that has the name; None for a volume or the set-up CD."""
    return int(name.removeprefix(_DISK)) if name.startswith(_DISK) else None


def volume_name(volume_id: int) -> str:
    return f"{_VOLUME}{volume_id}"


def volume_of(name: str) -> int | None:
    """The id of the volume that has the name."""
    return int(name.removeprefix(_VOLUME)) if name.startswith(_VOLUME) else None


def volume_drive(
    volume_id: int, label: str, lun: int, below: Options, boots: bool = False
) -> Drive:
    """`below`: the node of what holds the data."""
    return Drive(volume_name(volume_id), "raw", below, lun, label, boots)


def slot_lun(slot: Slot) -> int:
    return SLOTS.index(slot)
