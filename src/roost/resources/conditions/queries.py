"""SQL of conditions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from roost.core.conditions import Condition, Found, Severity
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import selected


@dataclass(frozen=True, slots=True)
class ConditionFacts:
    id: int
    kind: str
    subject: str
    severity: Severity
    text: str
    began: datetime
    ended: datetime | None
    """None while it holds."""


async def note(db: Queries, found: Found, now: datetime) -> None:
    """What is found holds from now on, or still; what is not does not any more."""
    for each in found.conditions:
        await _keep(db, each, now)
    await db.execute(
        """
        update operator_condition c set ended = $4
        where ended is null and kind = any($1) and not exists (
            select from unnest($2::text[], $3::text[]) as f (kind, subject)
            where f.kind = c.kind and f.subject = c.subject)
        """,
        found.kinds,
        [each.kind for each in found.conditions],
        [each.subject for each in found.conditions],
        now,
    )


async def _keep(db: Queries, each: Condition, now: datetime) -> None:
    await db.execute(
        """
        insert into operator_condition (kind, subject, severity, text, began, due)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (kind, subject) where ended is null
        do update set severity = excluded.severity, text = excluded.text
        """,
        each.kind,
        each.subject,
        each.severity,
        each.text,
        now,
        now + each.patience,
    )


@query(f"select {selected(ConditionFacts)} from operator_condition where id = $1")  # noqa: S608
async def find(db: Queries, condition_id: int) -> ConditionFacts | None: ...


async def tell(db: Queries, now: datetime, limit: int) -> Sequence[ConditionFacts]:
    """The oldest that operators are to be told of now, and count as told from now on.

    What has ended before it was told of is never told.
    """
    rows = await db.fetch(
        """
        with news as (
            select id from operator_condition
            where (ended is null and told is null and due <= $1)
                or (ended is not null and told is not null and not end_told)
            order by coalesce(ended, began), id limit $2 for update
        )
        update operator_condition c set told = coalesce(told, $1), end_told = ended is not null
        from news where c.id = news.id
        returning c.id, kind, subject, severity, text, began, ended
        """,
        now,
        limit,
    )
    return sorted((ConditionFacts(**row) for row in rows), key=lambda each: each.id)


@query("""
    select kind, count(*) as count from operator_condition
    where ended is null group by kind order by kind
    """)
async def count_open(db: Queries) -> dict[str, int]:
    """Conditions that hold, by kind."""


async def delete_old(db: Queries, before: datetime, limit: int) -> int:
    """Forget the oldest of those that ended before a time; returns how many."""
    rows = await db.fetch(
        """
        delete from operator_condition where id in (
            select id from operator_condition where ended < $1 order by ended limit $2
        ) returning id
        """,
        before,
        limit,
    )
    return len(rows)
