"""Simulated databases as their data plane finds and changes them."""

from dataclasses import replace

from roost.core.engine import EngineError
from roost.engines.simulated.moments import oldest_moment
from roost.engines.simulated.shelves import DATABASES, Database
from roost.engines.simulated.state import Documents
from roost.resources.databases.engine import DatabaseSpec, DatabaseState
from roost.secrets import hash_token


def finish(documents: Documents, spec: DatabaseSpec) -> None:
    """Complete a database that was begun, unless it was removed meanwhile."""
    found = DATABASES.find(documents, spec.id)
    if found is not None:
        DATABASES.put(documents, replace(found, whole=True))
        run(documents, spec)


def run(documents: Documents, spec: DatabaseSpec) -> None:
    """Start a database, or change it, to what the specification says."""
    found = find_whole(documents, spec.id)
    running = replace(
        found,
        running=True,
        memory=spec.memory,
        allow_list=spec.allow_list,
        username=spec.username,
        password=hash_token(spec.password).hex(),
        full=spec.full,
    )
    DATABASES.put(documents, running)


def find_whole(documents: Documents, database_id: int) -> Database:
    """A database that is complete. Raises EngineError where there is none."""
    found = DATABASES.find(documents, database_id)
    if found is None or not found.whole:
        raise EngineError(f"The data of database {database_id} do not exist")
    return found


def find_running(documents: Documents, database_id: int) -> Database:
    """A database that serves. Raises EngineError where it does not."""
    found = find_whole(documents, database_id)
    if not found.running:
        raise EngineError(f"Database {database_id} does not run")
    return found


def state_of(database: Database) -> DatabaseState:
    """What the data plane tells of a database."""
    return DatabaseState(
        id=database.id,
        whole=database.whole,
        running=database.running and not database.degraded,
        used=database.used if database.whole else 0,
        outdated=database.outdated,
        backups=tuple(sorted(database.backups)),
        oldest_moment=oldest_moment(database),
        lost_logs=database.lost_logs,
    )
