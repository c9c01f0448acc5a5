"""What jobs on managed databases are given."""

from pydantic import BaseModel, ConfigDict

from roost.jobs.kinds import JobArgs
from roost.resources.databases.entity import resource_of
from roost.resources.databases.records import DatabaseStatus


class DatabaseArgs(JobArgs):
    """Which database."""

    database_id: int


def on_database(args: DatabaseArgs) -> str:
    """The resource of jobs on a database."""
    return resource_of(args.database_id)


class Plan(BaseModel):
    """Of a node; memory and disk in MB."""

    model_config = ConfigDict(frozen=True)

    type: str
    vcpus: int
    memory: int
    disk: int


class UpdateArgs(DatabaseArgs):
    """What the database had before; None of what stays."""

    former_allow_list: tuple[str, ...] | None = None
    former_plan: Plan | None = None


class DatabaseBackupArgs(DatabaseArgs):
    """Which backup of it."""

    backup_id: int


class SaveArgs(DatabaseBackupArgs):
    replica: bool = False
    """Whether a replica is copied, if there is one."""


class RestoreDatabaseArgs(DatabaseBackupArgs):
    former: DatabaseStatus
    """The status when it was begun."""
