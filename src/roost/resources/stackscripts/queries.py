"""SQL of StackScripts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import orjson

from roost.core.entities.kind import ResourceKind
from roost.core.grant_queries import granted_sql
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.stackscripts.records import StackScriptRow, UserDefinedField
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement, changed, inserted, selected

_MINE = "coalesce(s.account_id = $1::bigint, false)"
_ACTIVE = "(select count(*) from stackscript_deployment where stackscript_id = s.id)"

OWN = listing_of(
    StackScriptRow,
    source="stackscript s",
    scope="s.account_id = $1",
    key="s.id",
    granted=("'stackscript'", "s.id"),
    sql={
        "deployments_active": _ACTIVE,
        "mine": _MINE,
        "ordinal": "0",
        "logo_url": "''",
    },
)
"""An account's."""

_GRANTED = granted_sql("'stackscript'", "s.id", "$2")

VISIBLE = replace(
    OWN, scope=f"s.is_public or s.account_id = $1::bigint and {_GRANTED}", granted=None
)
"""Public ones too. Scope: the account, None for a stranger, and the user who needs a grant."""

LIMIT = LimitGroup.of(
    "stackscript where account_id = $1",
    LimitKind("stackscripts", "StackScripts", 500, service=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStackScript:
    """A row to insert."""

    account_id: int
    username: str
    user_gravatar_id: str
    label: str
    description: str
    images: list[str]
    is_public: bool
    rev_note: str
    script: str
    user_defined_fields: str
    """JSON."""
    now: datetime


@dataclass(frozen=True, slots=True)
class StackScriptFacts:
    """What the rules of an update need of a row."""

    id: int
    label: str
    images: list[str]
    script: str
    description: str
    is_public: bool
    rev_note: str


@dataclass(frozen=True, slots=True)
class Deployable:
    """What an instance runs."""

    is_public: bool
    images: list[str]
    script: str
    user_defined_fields: list[UserDefinedField]


_NEW = inserted(NewStackScript, created=":now", updated=":now")
_INSERT = Statement(f"insert into stackscript {_NEW} returning id")

_COLUMNS = (
    "label",
    "images",
    "description",
    "script",
    "user_defined_fields",
    "is_public",
    "rev_note",
)
_UPDATE = Statement(
    f"update stackscript set {changed(*_COLUMNS)}, updated = :now where id = :id"  # noqa: S608
)


async def insert(db: Queries, new: NewStackScript) -> int:
    stackscript_id: int = await db.fetchval(*_INSERT.of(new))
    return stackscript_id


@query(f"""
    select {selected(StackScriptFacts)} from stackscript
    where account_id = $1 and id = $2 for update
    """)  # noqa: S608
async def lock(db: Queries, account_id: int, stackscript_id: int) -> StackScriptFacts | None:
    """One of the account's, which nobody else changes until the end of the transaction."""


async def update(
    db: Queries, stackscript_id: int, changes: Mapping[str, object], now: datetime
) -> None:
    """Change the columns that have a value."""
    row = {**dict.fromkeys(_COLUMNS), **changes}
    await db.execute(*_UPDATE.of(**row, id=stackscript_id, now=now))


async def deployable(db: Queries, account_id: int, ids: Collection[int]) -> dict[int, Deployable]:
    """Those of these ids that are public or the account's."""
    rows = await db.fetch(
        """
        select id, is_public, images, script, user_defined_fields from stackscript
        where id = any($2::bigint[]) and (is_public or account_id = $1)
        """,
        account_id,
        list(ids),
    )
    return {
        row["id"]: Deployable(
            row["is_public"],
            row["images"],
            row["script"],
            orjson.loads(row["user_defined_fields"]),
        )
        for row in rows
    }


async def deploy(db: Queries, compute_id: int, stackscript_id: int) -> bool:
    """Count that the instance is made with it; False when it is gone."""
    found = await db.fetchval(
        """
        with used as (
            update stackscript set deployments_total = deployments_total + 1
            where id = $1 returning id
        ), kept as (
            insert into stackscript_deployment (stackscript_id, compute_id)
            select id, $2 from used on conflict do nothing
        )
        select id from used
        """,
        stackscript_id,
        compute_id,
    )
    return found is not None


@query("delete from stackscript_deployment where compute_id = $1")
async def forget_instance(db: Queries, compute_id: int) -> None:
    """It is not among those that exist any more."""


@query("delete from stackscript where id = $1")
async def delete(db: Queries, stackscript_id: int) -> None: ...


STACKSCRIPT = ResourceKind(
    name="stackscript",
    path="/compute/stackscripts/{id}",
    listing=OWN,
    label="s.label",
)


HELD = "select id::text, account_id, false as waits from stackscript where not is_public"
"""What ends with accounts; others may use public ones."""
