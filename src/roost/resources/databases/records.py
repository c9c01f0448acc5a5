"""Records of managed databases (spec A databases; reference: Database engine and following)."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Timestamp, Updated

DatabaseStatus = Literal[
    "provisioning",
    "active",
    "suspending",
    "suspended",
    "resuming",
    "restoring",
    "failed",
    "degraded",
    "updating",
    "backing_up",
]
ReplicationType = Literal["none", "asynch", "semi_synch"]
PostgresqlReplication = Literal["none", "asynch"]
CommitType = Literal["off", "on", "local", "remote_write", "remote_apply"]
BackupType = Literal["auto", "snapshot"]


class DatabaseEngineRow(TypedDict):
    """A database engine; sizes in GB."""

    id: str
    """`<engine>/<version>`, as requests name it."""
    engine: Filtered[str]
    """The protocol that clients speak."""
    version: Filtered[str]
    """The version of the server, or its beginning."""
    total_disk_size_gb: int
    """GB of disk that a node has at least."""
    used_disk_size_gb: int
    """GB of it that the engine itself takes."""


class DatabasePrice(TypedDict):
    """US dollars."""

    hourly: float
    """For an hour, up to the monthly price."""
    monthly: float
    """For a whole month."""


class ClusterPriceRow(TypedDict):
    """What a cluster costs."""

    quantity: Literal[1, 3]
    """The number of nodes."""
    price: DatabasePrice
    """What all of them cost."""


class EnginePrices(TypedDict):
    """Prices by engine."""

    mysql: list[ClusterPriceRow]
    """Of MySQL databases, by cluster size."""
    postgresql: NotRequired[list[ClusterPriceRow]]
    """Of PostgreSQL databases, by cluster size."""


# This key is a Python keyword, so it is named outside of a class body.
_Class = TypedDict(
    "_Class",
    {
        "class": Annotated[
            Literal["nanode", "standard", "dedicated", "premium", "gpu", "highmem"],
            Field(
                description="What it is good for; `dedicated` shares its processors with nobody."
            ),
        ]
    },
)


class DatabaseTypeRow(_Class):
    """A plan of database nodes; memory and disk in MB."""

    id: str
    """The name that requests use."""
    label: str
    """The name for people."""
    vcpus: int
    """Virtual processors of a node."""
    memory: int
    """MB of a node."""
    disk: int
    """MB of a node."""
    deprecated: Filtered[bool]
    """Whether it is no longer offered for new databases."""
    engines: EnginePrices
    """What clusters of such nodes cost."""


class Hosts(TypedDict):
    """Where clients connect; null until the database is provisioned."""

    primary: str | None
    """The host that is read and written."""
    secondary: str | None
    """The host that is only read; null for a single node."""


class UpdatesRow(TypedDict):
    """The window of maintenance."""

    frequency: Literal["weekly", "monthly"]
    """How often it opens."""
    duration: int
    """Hours that it stays open, 1 to 3."""
    hour_of_day: int
    """The hour in which it opens, 0 to 23 (UTC)."""
    day_of_week: int
    """The day on which it opens, 1 is Monday."""
    week_of_month: int | None
    """The week of the month in which a monthly one opens, 1 to 4; null for a weekly one."""


class ForkRow(TypedDict):
    """What a database began as (an extension)."""

    source: int
    """The id of the database whose data it got."""
    restore_time: Timestamp
    """The moment (UTC): all that was written before it."""


class DatabaseRow(TypedDict):
    """What databases of all engines have."""

    id: Id
    label: Folded[str]
    """The name that you gave it; unique in the account."""
    type: Filtered[str]
    """The plan of its nodes."""
    engine: str
    """The protocol that clients speak."""
    version: Filtered[str]
    """The version of the server, or its beginning."""
    region: Filtered[str]
    """The id of the region that holds it."""
    status: Filtered[DatabaseStatus]
    """`active` when all is well and nothing is being done with it."""
    encrypted: bool
    """Whether its data are encrypted on disk."""
    allow_list: list[str]
    """Addresses and networks that may connect, sorted; nobody else can."""
    cluster_size: int
    """The number of nodes: 1, or 3 with two replicas."""
    hosts: Hosts
    """Where clients connect."""
    created: Created
    updated: Updated
    updates: UpdatesRow
    """When maintenance is done."""


class AnyDatabaseRow(DatabaseRow):
    """A database of any engine."""

    instance_uri: str
    """The path of its whole record."""


class MysqlDatabaseRow(DatabaseRow):
    """A MySQL database; sizes in GB."""

    ssl_connection: bool
    """Whether clients must connect by TLS."""
    replication_type: ReplicationType
    """How the replicas follow; `none` for a single node."""
    port: int
    """The TCP port of its hosts."""
    total_disk_size_gb: int
    """GB of disk of a node."""
    used_disk_size_gb: int
    """GB of it that are used, rounded up; measured every minute."""
    fork: ForkRow | None
    """What it began as (an extension); null when it was made empty."""
    oldest_restore_time: Timestamp | None
    """The first moment (UTC) that a fork of it can have (an extension); null without a backup that
    is good for one."""


class PostgresqlDatabaseRow(DatabaseRow):
    """A PostgreSQL database; sizes in GB."""

    ssl_connection: bool
    """Whether clients must connect by TLS."""
    replication_type: PostgresqlReplication
    """How the replicas follow; `none` for a single node."""
    replication_commit_type: CommitType
    """For what a commit waits (`synchronous_commit` of PostgreSQL)."""
    port: int
    """The TCP port of its hosts."""
    total_disk_size_gb: int
    """GB of disk of a node."""
    used_disk_size_gb: int
    """GB of it that are used, rounded up; measured every minute."""
    fork: ForkRow | None
    """What it began as (an extension); null when it was made empty."""
    oldest_restore_time: Timestamp | None
    """The first moment (UTC) that a fork of it can have (an extension); null without a backup that
    is good for one."""


class CredentialsRow(TypedDict):
    """The admin user of a database."""

    username: str
    """The user that clients log in as."""
    password: str
    """The password."""


class SslRow(TypedDict):
    """How clients know the servers of a database."""

    ca_certificate: str
    """The certificate of the authority that signed theirs: PEM in base64."""


class DatabaseBackupRow(TypedDict):
    """A backup of a database."""

    id: Id
    label: str
    """The name that you gave the snapshot; the schedule names its own."""
    type: Filtered[BackupType]
    """`auto` by the schedule, which keeps it for 7 days; `snapshot` on request."""
    created: Created
    verified: Timestamp | None
    """When Roost last restored it beside the database, to see that it can be (an extension)."""
    restorable: bool | None
    """Whether that went well (an extension); null before the first time."""
