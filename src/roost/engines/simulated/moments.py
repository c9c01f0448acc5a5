"""What was in a simulated database at which moment, since its oldest backup."""

from dataclasses import replace
from datetime import datetime, timedelta

from roost.core.engine import EngineError
from roost.engines.simulated.shelves import Database
from roost.resources.databases.engine import Fork


def written(database: Database, content: str, now: datetime) -> Database:
    """With something else in it from now on."""
    changed = replace(database, content=content)
    return changed if not database.made else _noted(changed, now)


def copied(database: Database, backup_id: int, now: datetime) -> Database:
    """With a whole backup."""
    backups = database.backups | {backup_id: database.content}
    changed = replace(database, backups=backups, made=database.made | {backup_id: now})
    return _noted(changed, now)


def discarded(database: Database, backup_id: int) -> Database:
    """Without a backup, and without what nobody but it needs."""
    backups = {each: content for each, content in database.backups.items() if each != backup_id}
    made = {each: moment for each, moment in database.made.items() if each != backup_id}
    return trimmed(replace(database, backups=backups, made=made))


def trimmed(database: Database) -> Database:
    """Backups to which the history does not reach are of no use for moments after them."""
    begun = database.history[0][0] if database.history else datetime.max
    made = {each: moment for each, moment in database.made.items() if moment >= begun}
    first = min(made.values(), default=datetime.max)
    history = tuple(each for each in database.history if each[0] >= first)
    return replace(database, made=made, history=history, lost_logs=0)


def oldest_moment(database: Database) -> datetime | None:
    """The first whole second at which a backup was there already."""
    if not database.made or not database.history:
        return None
    first = max(min(database.made.values()), database.history[0][0])
    return first.replace(microsecond=0) + timedelta(seconds=1)


def content_at(database: Database, fork: Fork) -> str:
    """What was in it. Raises EngineError where nobody knows."""
    oldest = oldest_moment(database)
    if oldest is None or fork.moment < oldest:
        raise EngineError("The database has no backup from before that moment")
    return [content for moment, content in database.history if moment < fork.moment][-1]


def _noted(database: Database, now: datetime) -> Database:
    return replace(database, history=(*database.history, (now, database.content)))
