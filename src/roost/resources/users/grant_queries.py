"""SQL of a user's grants as one record, and of the entities that grants are about."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection

from roost.resources.users.kinds import CHILD_ACCESS, ENTITIES, KINDS, RIGHTS
from roost.store import Queries


def _kind(kind: str) -> str:
    entities = ENTITIES.get(kind)
    if entities is None:
        return f"json '[]' as {kind}"
    return f"""
        (select coalesce(json_agg(row_to_json(one) order by one.id), '[]') from (
            select e.id, e.label, g.permissions from ({entities}) e
            left join entity_grant g
                on g.user_id = u.id and g.kind = '{kind}' and g.entity_id = e.id) one) as {kind}
        """


_RIGHTS = ", ".join(f"'{right}' = any(u.rights) as {right}" for right in RIGHTS)
_GRANTS = f"""
    select (select row_to_json(grants) from (
        select (select row_to_json(held) from (
            select u.account_access, {_RIGHTS},
                case when u.user_type = 'parent' then '{CHILD_ACCESS}' = any(u.rights) end
                    as {CHILD_ACCESS}) held) as global,
            {", ".join(_kind(kind) for kind in KINDS)}) grants)::text
    from api_user u where u.account_id = $1 and u.id = $2 and u.restricted
"""


async def record(db: Queries, account_id: int, user_id: int) -> str | None:
    """The record as JSON; None for an unrestricted user."""
    found: str | None = await db.fetchval(_GRANTS, account_id, user_id)
    return found


async def existing(db: Queries, account_id: int, kind: str, ids: Collection[int]) -> set[int]:
    """Those of the ids that are entities of the account."""
    if kind not in ENTITIES:
        return set()
    rows = await db.fetch(
        f"select id from ({ENTITIES[kind]}) e where id = any($2)", account_id, list(ids)
    )
    return {row["id"] for row in rows}
