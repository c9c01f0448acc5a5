"""Request bodies of managed databases (spec A databases; reference: operations)."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from roost.core.references import OfKind
from roost.ids import MAX_ID
from roost.resources.databases import rules
from roost.resources.databases.engine import KindName
from roost.resources.databases.queries import DATABASE
from roost.resources.databases.records import (
    CommitType,
    PostgresqlReplication,
    ReplicationType,
)
from roost.web.bodies import Body
from roost.web.checks import Refers, RegionId, catalog_of
from roost.web.fields import INTEGER, Between, Length, Pattern, ShortText, refuse
from roost.web.times import Time

Label = Annotated[str, Length(3, 32)]
Network = Annotated[ShortText, AfterValidator(rules.check_network)]
AllowList = Annotated[
    list[Network], Length(0, rules.MAX_NETWORKS), AfterValidator(rules.sort_networks)
]
_BACKUP_LABEL = Pattern("[A-Za-z0-9_]*", "Must only use ASCII letters, numbers, and underscores")


def _check_type(type_id: str, info: ValidationInfo) -> str:
    plan = catalog_of(info).find_database_type(type_id)
    if plan is None or plan.deprecated:
        raise refuse("A valid plan type by that ID was not found")
    return type_id


SourceId = Annotated[int, Between(1, MAX_ID), Refers(OfKind(DATABASE, "read_only"))]
TypeId = Annotated[ShortText, AfterValidator(_check_type)]


class ForkDatabase(Body):
    """Another database of the account, and a moment of it."""

    source: SourceId
    """The id of the database; it must be `active` or `degraded`, and you must be allowed to see
    it."""
    restore_time: Time | None = None
    """The moment (UTC): all that was written before it. Not before the `oldest_restore_time` of the
    database; omitted: the present."""


class CreateDatabase(Body):
    """POST /databases/mysql/instances. The order of the fields is the order of their errors."""

    kind: ClassVar[KindName] = "mysql"
    usual_replication: ClassVar[ReplicationType] = "semi_synch"
    """How three nodes are replicated when nothing is said."""
    replications: ClassVar[tuple[ReplicationType, ...]] = ("asynch", "semi_synch")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "label": "orders",
                    "region": "us-lake",
                    "type": "g1-nano-1",
                    "engine": "mysql/8.0.30",
                    "allow_list": ["192.0.2.1"],
                },
                {
                    "label": "orders-yesterday",
                    "region": "us-lake",
                    "type": "g1-nano-1",
                    "engine": "mysql/8.0.30",
                    "fork": {"source": 100001, "restore_time": "2030-02-01T12:00:00"},
                },
            ]
        }
    )

    label: Label
    """3 to 32 characters; unique in the account."""
    region: RegionId
    """The id of the region."""
    type: TypeId
    """The plan of its nodes."""
    engine: ShortText
    """`<engine>/<version>`, one of the list of engines."""
    cluster_size: Annotated[Literal[1, 3], INTEGER] = 1
    """The number of nodes; 3 are a primary and two replicas."""
    encrypted: bool = False
    """Whether its data shall be encrypted on disk."""
    ssl_connection: bool = True
    """Whether clients must connect by TLS."""
    replication_type: ReplicationType | None = Field(default=None, validate_default=True)
    """How replicas follow: `none` for one node, else `asynch` or `semi_synch`, which is what three
    get when it is omitted."""
    allow_list: AllowList = []
    """Addresses and networks that may connect; `0.0.0.0/0` is everybody, `[]` nobody."""
    fork: ForkDatabase | None = None
    """What it begins with: the data that another database had at a moment (an extension). Region,
    engine and `encrypted` must be those of that one, and the plan's disk as large at least.
    Credentials and all else are its own."""

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str, info: ValidationInfo) -> str:
        region = catalog_of(info).find_region(value)
        if region is None or "Managed Databases" not in region.capabilities:
            raise refuse("The region does not offer Managed Databases")
        return value

    @field_validator("engine")
    @classmethod
    def _check_engine(cls, value: str, info: ValidationInfo) -> str:
        engine = catalog_of(info).find_database_engine(value)
        if engine is None or engine.engine != cls.kind:
            raise refuse("engine is not valid")
        return value

    @field_validator("cluster_size")
    @classmethod
    def _check_size(cls, value: int, info: ValidationInfo) -> int:
        plan = catalog_of(info).find_database_type(info.data.get("type", ""))
        if plan is not None and not plan.offers(cls.kind, value):
            raise refuse("The plan type does not offer clusters of this size")
        return value

    @field_validator("replication_type")
    @classmethod
    def _check_replication(cls, value: str | None, info: ValidationInfo) -> str | None:
        size = info.data.get("cluster_size")
        if size is None:
            return value
        fitting = rules.replication_of(size, value, cls.usual_replication)
        if fitting is None:
            kinds = "none" if size == 1 else " or ".join(cls.replications)
            raise refuse(f"Must be {kinds} with a cluster_size of {size}")
        return fitting

    @property
    def commit_type(self) -> CommitType | None:
        """For what a commit waits; None where that is no choice."""
        return None


class CreatePostgresqlDatabase(CreateDatabase):
    """POST /databases/postgresql/instances. The order of the fields is the order of their
    errors."""

    kind: ClassVar[KindName] = "postgresql"
    usual_replication: ClassVar[ReplicationType] = "asynch"
    replications: ClassVar[tuple[ReplicationType, ...]] = ("asynch",)
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "label": "ledger",
                    "region": "us-lake",
                    "type": "g1-nano-1",
                    "engine": "postgresql/15",
                    "allow_list": ["192.0.2.1"],
                },
                {
                    "label": "ledger-yesterday",
                    "region": "us-lake",
                    "type": "g1-nano-1",
                    "engine": "postgresql/15",
                    "fork": {"source": 100001, "restore_time": "2030-02-01T12:00:00"},
                },
            ]
        }
    )

    replication_type: PostgresqlReplication | None = Field(default=None, validate_default=True)
    """How replicas follow: `none` for one node, else `asynch`, which is what three get when it is
    omitted."""
    replication_commit_type: CommitType = "local"
    """For what a commit waits (`synchronous_commit` of PostgreSQL): with `off` for nothing, with
    `local` until it is on the primary's disk, with the others of three nodes until a replica has
    it too."""

    @property
    def commit_type(self) -> CommitType:
        return self.replication_commit_type


class Updates(Body):
    """The window of maintenance."""

    frequency: Literal["weekly", "monthly"] = "weekly"
    """How often it opens."""
    duration: Annotated[int, Between(1, 3)]
    """Hours that it stays open."""
    hour_of_day: Annotated[int, Between(0, 23)]
    """The hour in which it opens (UTC)."""
    day_of_week: Annotated[int, Between(1, 7)]
    """The day on which it opens, 1 is Monday."""
    week_of_month: Annotated[int, Between(1, 4)] | None = Field(default=None, validate_default=True)
    """The week of the month in which a monthly one opens; omitted for a weekly one."""

    @field_validator("week_of_month")
    @classmethod
    def _check_week(cls, value: int | None, info: ValidationInfo) -> int | None:
        frequency = info.data.get("frequency")
        if frequency == "monthly" and value is None:
            raise refuse("week_of_month is required for a monthly window")
        if frequency == "weekly" and value is not None:
            raise refuse("Must be null for a weekly window")
        return value


class UpdateDatabase(Body):
    """PUT /databases/mysql/instances/{instanceId}; what is omitted stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"label": "orders", "allow_list": ["192.0.2.0/24"]},
                {
                    "type": "g1-standard-1",
                    "updates": {"duration": 2, "hour_of_day": 4, "day_of_week": 7},
                },
            ]
        }
    )

    label: Label | None = None
    """The new name."""
    allow_list: AllowList | None = None
    """All that may connect from now on, in place of what it was."""
    type: TypeId | None = None
    """A plan with more disk."""
    updates: Updates | None = None
    """The new window of maintenance."""


class TakeDatabaseSnapshot(Body):
    """POST /databases/mysql/instances/{instanceId}/backups."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": "before_sale"}]})

    label: Annotated[str, Length(1, 30), _BACKUP_LABEL]
    """1 to 30 letters, digits and `_`; unique among the backups of the database."""
    target: Literal["primary", "secondary"] = "primary"
    """The node that is copied; `secondary` is a replica of a cluster, and of a single node the
    primary."""
