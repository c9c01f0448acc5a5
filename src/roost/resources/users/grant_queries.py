"""SQL of a user's grants as one record."""

# ruff: noqa: S608  (statements are put together from constants)

from roost.core.entities.queries import entities_sql
from roost.core.entities.registry import Entities
from roost.resources.users.kinds import CHILD_ACCESS, KINDS, RIGHTS
from roost.store import Queries

_RIGHTS = ", ".join(f"'{right}' = any(u.rights) as {right}" for right in RIGHTS)


def _granted(entities: Entities, name: str) -> str:
    kind = entities.grantable(name)
    if kind is None:
        return f"json '[]' as {name}"
    return f"""
        (select coalesce(json_agg(row_to_json(one) order by one.id), '[]') from (
            select e.id, e.label, g.permissions from ({entities_sql(kind)}) e
            left join entity_grant g
                on g.user_id = u.id and g.kind = '{name}' and g.entity_id = e.id) one) as {name}
        """


async def record(db: Queries, entities: Entities, account_id: int, user_id: int) -> str | None:
    """The record as JSON; None for an unrestricted user."""
    found: str | None = await db.fetchval(
        f"""
        select (select row_to_json(grants) from (
            select (select row_to_json(held) from (
                select u.account_access, {_RIGHTS},
                    case when u.user_type = 'parent' then '{CHILD_ACCESS}' = any(u.rights) end
                        as {CHILD_ACCESS}) held) as global,
                {", ".join(_granted(entities, name) for name in KINDS)}) grants)::text
        from api_user u where u.account_id = $1 and u.id = $2 and u.restricted
        """,
        account_id,
        user_id,
    )
    return found
