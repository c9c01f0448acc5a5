"""How a managed database's row and its servers differ: pure comparison."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from roost.resources.databases.engine import DatabaseState
from roost.resources.databases.queries import DatabaseFacts

DriftKind = Literal[
    "orphan", "unfinished", "deleting", "missing", "down", "extra_backup", "lost_backup"
]


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference; `text` completes a sentence that begins with the database."""

    kind: DriftKind
    text: str
    backup_id: int = 0


def compare(
    row: DatabaseFacts | None, backups: Collection[int], state: DatabaseState | None
) -> Drift | None:
    """The difference to mend first; no job works on the database.

    `backups` are those that are shown.
    """
    if row is None:
        return None if state is None else Drift("orphan", "is on the host, but does not exist")
    if row.deleting:
        return Drift("deleting", "is being deleted, but no job works on it")
    if row.status not in ("active", "degraded", "failed"):
        return Drift("unfinished", f"is {row.status}, but no job works on it")
    if not row.made:
        return None if state is None else Drift("orphan", "failed, but is on the host")
    if state is None or not state.whole:
        return Drift("missing", "has lost its data")
    if row.status == "active" and not state.running:
        return Drift("down", "is active, but does not run")
    return _compare_backups(backups, state.backups)


def _compare_backups(shown: Collection[int], held: Collection[int]) -> Drift | None:
    for backup_id in held:
        if backup_id not in shown:
            text = f"has a backup {backup_id} on the host that does not exist"
            return Drift("extra_backup", text, backup_id)
    for backup_id in shown:
        if backup_id not in held:
            return Drift("lost_backup", f"has lost its backup {backup_id}", backup_id)
    return None
