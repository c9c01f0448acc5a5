"""What managed databases need from a data plane.

How nodes are replicated and how backups are made is the implementation's. All methods are
idempotent; names on the host derive from the database's id (`database-100001`). Every method that
waits may raise EngineError. Passwords reach neither logs nor errors.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from roost.core.engine import Health
from roost.core.planes import Engines, Placed, Plane

KindName = Literal["mysql", "postgresql"]
"""The protocol that clients speak, by which the API tells databases apart."""

_LEAST_TEMPORARY = 64
"""MB"""


@dataclass(frozen=True, slots=True)
class DatabaseShape:
    """What cannot change once a database is made."""

    server: str
    """`mysql`, `mariadb` or `postgresql`"""
    version: str
    """Of the server, or its beginning: `10.11`"""
    cluster_size: int
    replication_type: str
    encrypted: bool
    ssl_connection: bool
    commit_type: str | None = None
    """For what a commit waits (`synchronous_commit`); None where there is no choice"""


@dataclass(frozen=True, slots=True)
class DatabaseSpec:
    """A database as it should be."""

    id: int
    shape: DatabaseShape
    vcpus: int
    memory: int
    """MB of a node"""
    disk: int
    """MB of a node"""
    allow_list: tuple[str, ...]
    """Networks in their usual form"""
    username: str
    password: str = field(repr=False)
    full: bool = False
    """Whether its user may only read and remove, as the disk is full"""

    @property
    def name(self) -> str:
        return f"database-{self.id}"


@dataclass(frozen=True, slots=True)
class Fork:
    """What a database begins with: what another one held, or holds."""

    source: int
    """The id of that one"""
    moment: datetime
    """UTC, in whole seconds: all that was written before it"""


@dataclass(frozen=True, slots=True)
class HostName:
    """What clients connect to."""

    name: str
    """A host name or an address"""
    address: str | None
    """Where the platform's name server leads the name; None of one that is not in its zone"""


@dataclass(frozen=True, slots=True)
class Hosts:
    """Those of one database; both have the same port."""

    primary: HostName
    """It takes writes, whichever node that is"""
    secondary: HostName | None
    """That of replicas"""

    @property
    def all(self) -> "list[HostName]":
        return [host for host in (self.primary, self.secondary) if host is not None]

    @property
    def named(self) -> "list[HostName]":
        """Those of the platform's zone."""
        return [host for host in self.all if host.address is not None]


@dataclass(frozen=True, slots=True)
class Access:
    """How clients reach a database."""

    hosts: Hosts
    port: int
    ca_certificate: str
    """PEM"""


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """A database as it is."""

    id: int
    whole: bool
    """False while it is being made, or of one that was given up meanwhile"""
    running: bool
    """Whether all nodes serve"""
    used: int
    """MB of a node's disk that its data take"""
    outdated: bool
    """Whether a newer release of its server is installed than the one that runs"""
    backups: tuple[int, ...]
    """Ids, also of copies that are only begun"""
    oldest_moment: datetime | None = None
    """The first one that a fork can have; None while there is none"""
    lost_logs: int = 0
    """Logs between a backup and now that are gone"""
    spare_logs: int = 0
    """Logs that no backup needs"""
    temporary: int = 0
    """MB of a node's disk that temporary files take"""


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an engine makes no such database."""

    field: str
    reason: str


def temporary_room(disk: int) -> int:
    """MB of a plan's disk that are for temporary files, which cannot exceed them; all else is for
    data."""
    return max(_LEAST_TEMPORARY, disk // 8)


def most_data(disk: int) -> int:
    """MB of data on a plan's disk from which on nobody may write at all: what a server writes until
    it is told goes into the room for temporary files, not past the disk."""
    return disk - temporary_room(disk) // 2


def host_name(database_id: int, zone: str, *, replicas: bool = False) -> str:
    """That of a database in the region's part of the platform's zone."""
    return f"database-{database_id}{'-secondary' if replicas else ''}.{zone}"


class DatabaseEngine(Protocol):
    """One data plane for the databases of a region."""

    @property
    def name(self) -> str:
        """By which databases remember who holds them."""

    def objection(self, shape: DatabaseShape) -> Objection | None:
        """What of it this engine does not offer. At once, without asking anybody."""

    def hosts(self, database_id: int, cluster_size: int) -> Hosts:
        """How clients call it, whether it is there or not. At once, without asking anybody."""

    async def create(self, spec: DatabaseSpec, fork: Fork | None = None) -> Access:
        """Make an empty database that serves, or a fork; what is there already is kept.

        A fork has the data of another database that this engine holds and that is equally
        encrypted, but user, password and all else of its own. EngineError when that moment of the
        other one cannot be had.
        """

    async def ensure(self, spec: DatabaseSpec) -> bool:
        """The database serves, and its allow list is in force; in a cluster, if need be, from
        another node. False when another one should have led, but had so much to apply that the
        former one was started again.

        EngineError when its data are gone: what is lost is not replaced by something empty. Never
        do two nodes take writes.
        """

    async def rebuild(self, spec: DatabaseSpec) -> None:
        """All nodes of a database that serves do so; what cannot, becomes a copy of the primary."""

    async def rest(self, database_id: int) -> None:
        """None of its servers runs, until `ensure`; all else stays."""

    async def restart(self, spec: DatabaseSpec) -> None:
        """Start the servers anew: with what the plan has, the names that `hosts` tells, and the
        server that is installed now."""

    async def set_allow_list(self, database_id: int, networks: tuple[str, ...]) -> None:
        """Only these can connect from now on, and open connections of all others end."""

    async def set_password(self, spec: DatabaseSpec) -> None:
        """The specification's user has its password, may write unless the disk is full, and has no
        privilege over the server itself."""

    async def limit_writes(self, spec: DatabaseSpec) -> None:
        """The user may write or not, as `spec.full` says; its connections end if that changes."""

    async def free(self, database_id: int) -> None:
        """Remove from the disk what servers write for replicas and forks, and these have by now.

        What cannot be kept beside the backups, as the host has no room, stays.
        """

    async def back_up(self, database_id: int, backup_id: int, *, replica: bool) -> None:
        """Copy all data as of one moment, while they are written. A whole copy stays as it is.

        It appears only when it is whole. `replica`: from a node that is no primary, if there is
        one. From then on what is written is kept too, so that forks can have moments after it.
        """

    async def archive(self, database_id: int, most: int) -> None:
        """Keep beside the backups what has been written since the last call, and remove what no
        backup needs; the oldest, too, when all that is kept takes more than `most` MB."""

    async def restore(self, spec: DatabaseSpec, backup_id: int) -> None:
        """Replace all data by those of a backup; user, password and allow list are those of the
        specification. The data at hand are kept until the restored ones are served: after a fault
        `ensure` serves one or the other.
        """

    async def verify(self, spec: DatabaseSpec, backup_id: int) -> None:
        """Restore a backup beside everything else, where nobody reaches it, and read all of it; the
        database itself goes on. EngineError when it cannot be restored. Nothing is left of it.
        """

    async def tidy(self, database_id: int) -> None:
        """Remove what is left of verifications that were interrupted; the database may be gone."""

    async def delete_backup(self, database_id: int, backup_id: int) -> None: ...

    async def delete(self, database_id: int) -> None:
        """Nothing of it is left: no server, data, backups, or rules of the network."""

    async def inspect(self, database_id: int) -> DatabaseState | None:
        """None when nothing of it exists."""

    async def list(self) -> list[DatabaseState]:
        """All databases that this engine holds, by id."""

    def faults(self) -> AsyncGenerator[int, None]:
        """The ids of databases as they lose a server, or one hangs, within seconds.

        What it misses, as nobody listens, `list` shows.
        """

    def fillings(self) -> AsyncGenerator[int, None]:
        """The ids of databases whose data come to take all of their plan's disk, within seconds.

        What it misses `list` shows.
        """

    async def health(self) -> Health: ...

    async def shut_down(self) -> None:
        """End all servers; data and backups stay."""

    async def close(self) -> None:
        """Let go of the data plane, which goes on."""


DATABASE_PLANE: Plane[DatabaseEngine] = Plane("databases")
POSTGRESQL_PLANE: Plane[DatabaseEngine] = Plane("postgresql")

PLANES: Mapping[KindName, Plane[DatabaseEngine]] = {
    "mysql": DATABASE_PLANE,
    "postgresql": POSTGRESQL_PLANE,
}


class Held(Placed, Protocol):
    """A database that an engine of its kind holds."""

    @property
    def kind(self) -> KindName: ...


def holder_of(engines: Engines, database: Held) -> DatabaseEngine:
    """The engine that holds it. Raises EngineError like `Engines.holding`."""
    return engines.holding(PLANES[database.kind], database)


def all_engines(engines: Engines) -> Iterator[tuple[str, DatabaseEngine]]:
    """Those of all kinds, each with its region."""
    for plane in PLANES.values():
        yield from engines.by_region(plane).items()
