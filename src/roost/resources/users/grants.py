"""Viewing and changing what a restricted user may do (reference: Grants)."""

from collections.abc import Mapping

from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.registry import Entities
from roost.core.grant_queries import forget_user, give_all
from roost.errors import Problem, invalid, invalid_fields
from roost.resources.child_accounts import queries as child_accounts
from roost.resources.users import grant_queries, queries
from roost.resources.users.bodies import ChangeGrant, UpdateGlobal, UpdateGrants
from roost.resources.users.kinds import CHILD_ACCESS, KINDS
from roost.resources.users.queries import UserFacts
from roost.store import Queries
from roost.web.registry import NO_CONTENT
from roost.web.reply import Reply


async def view(context: Context, user_id: int) -> str | Reply:
    """The record; nothing for an unrestricted user, who needs no grants."""
    entities = context.get(Entities)
    return (
        await grant_queries.record(context.db, entities, context.account_id, user_id) or NO_CONTENT
    )


async def reset(db: Queries, user_id: int) -> None:
    """Take all grants away, and the tokens that were made by one."""
    await child_accounts.forget_tokens(db, user_id)
    await forget_user(db, user_id)
    await queries.set_global_grants(db, user_id, None, [])


async def change(context: Context, user: UserFacts, body: UpdateGrants) -> None:
    """Write what the body names; raises 400 with all that is wrong with it."""
    if not user.restricted:
        raise invalid("Only a restricted user has grants.")
    lists: Mapping[str, list[ChangeGrant]] = {kind: getattr(body, kind) for kind in KINDS}
    problems = _global_problems(user, body.global_)
    for kind, changes in lists.items():
        problems += await _unknown(context, kind, changes)
    if problems:
        raise invalid_fields(problems)
    if body.global_ is not None:
        await _change_global(context.db, user, body.global_)
    for kind, changes in lists.items():
        await give_all(context.db, user.id, kind, {c.id: c.permissions for c in changes})


async def _unknown(context: Context, name: str, changes: list[ChangeGrant]) -> list[Problem]:
    """The ids that are no entities of the account."""
    kind, ids = context.get(Entities).grantable(name), {change.id for change in changes}
    known = (
        set()
        if kind is None
        else set(await labels(context.db, kind, context.account_id, ids, hold=True))
    )
    return [
        Problem("id is not valid", f"{name}[{index}].id")
        for index, change in enumerate(changes)
        if change.id not in known
    ]


def _global_problems(user: UserFacts, body: UpdateGlobal | None) -> list[Problem]:
    if body is not None and body.child_account_access and user.user_type != "parent":
        return [Problem("Only users of a parent account can have this", f"global.{CHILD_ACCESS}")]
    return []


async def _change_global(db: Queries, user: UserFacts, body: UpdateGlobal) -> None:
    sent = body.model_dump(exclude_unset=True)
    access = sent.pop("account_access", user.account_access)
    rights = set(user.rights) | {right for right, has in sent.items() if has}
    rights -= {right for right, has in sent.items() if has is False}
    if CHILD_ACCESS not in rights:
        await child_accounts.forget_tokens(db, user.id)
    await queries.set_global_grants(db, user.id, access, sorted(rights))
