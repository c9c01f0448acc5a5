"""The records of a simulated data plane, kept as JSON documents."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Generic, TypeVar

from pydantic import Field, TypeAdapter

from roost.engines.simulated.state import Documents
from roost.resources.compute.disk_engine import Filesystem
from roost.resources.compute.network_engine import GuestAddresses, Link
from roost.resources.databases.engine import KindName


@dataclass(frozen=True, slots=True)
class Guest:
    """`started` is None while it is offline; it then has neither disks nor volumes plugged in."""

    id: int
    vcpus: int
    memory: int
    started: datetime | None = None
    console: str = ""
    disks: tuple[int, ...] = ()
    volumes: tuple[int, ...] = ()
    interrupted: bool = False
    addresses: GuestAddresses | None = None
    links: tuple[Annotated[Link, Field(discriminator="purpose")], ...] = ()
    ipv4: tuple[str, ...] = ()
    """With `links`, those of the last start."""
    handed: bool = False
    """Whether it is halted, as another host has all of it."""


@dataclass(frozen=True, slots=True)
class Disk:
    """`content` stands for its bytes, `used` is how many MB they need at least."""

    id: int
    compute_id: int
    size: int
    filesystem: Filesystem
    content: str
    used: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """A guest that another host is to send here, and these volumes with it; None until it has."""

    id: int
    volumes: tuple[int, ...]
    guest: Guest | None = None
    disks: tuple[Disk, ...] = ()


@dataclass(frozen=True, slots=True)
class Backup:
    """Copies of disks."""

    id: int
    disks: tuple[Disk, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A private image; `size` in MB. `aside` is one of which only the disk is there."""

    id: int
    size: int
    content: str
    used: int
    whole: bool = False
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Volume:
    """`compute_id` is the running guest that has it plugged in, `content` stands for its bytes."""

    id: int
    size: int
    content: str = ""
    whole: bool = False
    compute_id: int | None = None
    mounted: bool = False


@dataclass(frozen=True, slots=True)
class Database:
    """`content` stands for its data, `backups` for copies of it, None for one that is begun."""

    id: int
    kind: KindName = "mysql"
    whole: bool = False
    running: bool = False
    outdated: bool = False
    degraded: bool = False
    """Whether it has lost a node of several."""
    memory: int = 0
    allow_list: tuple[str, ...] = ()
    username: str = ""
    password: str = ""
    """A SHA-256, as the file may be saved and carried about."""
    content: str = ""
    backups: dict[int, str | None] = field(default_factory=dict)
    made: dict[int, datetime] = field(default_factory=dict)
    """When each backup was."""
    history: tuple[tuple[datetime, str], ...] = ()
    """What was in it since the oldest of them, and from when on."""
    lost_logs: int = 0
    used: int = 120
    """MB of its disk."""
    full: bool = False
    """Whether its user may only read and remove."""


_Record = TypeVar("_Record", Guest, Disk, Arrival, Backup, Image, Volume, Database)
_Key = int | tuple[int, int]


class Shelf(Generic[_Record]):
    """All records of one kind. Disks go by instance and disk, all else by id."""

    def __init__(self, kind: str, adapter: TypeAdapter[_Record]) -> None:
        self._kind = kind
        self._adapter: TypeAdapter[_Record] = adapter

    def find(self, documents: Documents, key: _Key) -> _Record | None:
        body = documents.read(self._kind, _name(key))
        return None if body is None else self._adapter.validate_json(body)

    def all(self, documents: Documents, compute_id: int | None = None) -> list[_Record]:
        """By id; of one instance when it is given."""
        prefix = "" if compute_id is None else f"{compute_id}/"
        bodies = documents.read_all(self._kind, prefix).values()
        return sorted(map(self._adapter.validate_json, bodies), key=lambda record: record.id)

    def put(self, documents: Documents, record: _Record) -> None:
        key = (record.compute_id, record.id) if isinstance(record, Disk) else record.id
        body = self._adapter.dump_json(record).decode()
        documents.write(self._kind, _name(key), body)

    def remove(self, documents: Documents, key: _Key) -> None:
        documents.write(self._kind, _name(key), None)


GUESTS = Shelf("guest", TypeAdapter(Guest))
DISKS = Shelf("disk", TypeAdapter(Disk))
ARRIVALS = Shelf("arrival", TypeAdapter(Arrival))
BACKUPS = Shelf("backup", TypeAdapter(Backup))
IMAGES = Shelf("image", TypeAdapter(Image))
VOLUMES = Shelf("volume", TypeAdapter(Volume))
DATABASES = Shelf("database", TypeAdapter(Database))


def _name(key: _Key) -> str:
    return str(key) if isinstance(key, int) else f"{key[0]}/{key[1]}"
