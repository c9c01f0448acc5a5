"""Who manages users, what restricted ones may do, and how they come to be (reference: Grants)."""

from collections.abc import Mapping

from roost.core import account_queries as accounts
from roost.core import revocation_queries
from roost.core.context import Context
from roost.core.entities.locks import lock_all
from roost.core.entities.registry import Entities
from roost.core.grant_queries import forget_user, give_all
from roost.errors import Problem, forbidden, invalid, invalid_fields, unauthenticated
from roost.resources.users import queries
from roost.resources.users.bodies import ChangeGrant, UpdateGlobal, UpdateGrants
from roost.resources.users.queries import find_by_id
from roost.resources.users.rules import CHILD_ACCESS, KINDS, UserFacts, gravatar_id
from roost.store import Queries
from roost.web.registry import NO_CONTENT
from roost.web.reply import Reply


async def find_caller(context: Context) -> UserFacts:
    """Raises 401 when the user is gone."""
    user = await queries.find_by_id(context.db, context.identity.user_id)
    if user is None:
        raise unauthenticated()
    return user


async def lock_users(context: Context) -> None:
    """Lock the users of the account for a caller who may manage them.

    Raises 403 for a caller who was restricted while the request was under way, as it could undo
    that.
    """
    await accounts.lock(context.db, context.account_id)
    if (await find_caller(context)).restricted:
        raise forbidden()


async def view_grants(context: Context, user_id: int) -> str | Reply:
    """The record; nothing for an unrestricted user, who needs no grants."""
    entities = context.get(Entities)
    return (
        await queries.grants_record(context.db, entities, context.account_id, user_id) or NO_CONTENT
    )


async def _reset_grants(db: Queries, user_id: int) -> None:
    """Take all grants away, and the tokens that were made by one."""
    await revocation_queries.delete_proxy_tokens(db, user_id)
    await forget_user(db, user_id)
    await queries.set_global_grants(db, user_id, None, [])


async def change_grants(context: Context, user: UserFacts, body: UpdateGrants) -> None:
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
    known = set() if kind is None else await lock_all(context.db, kind, context.account_id, ids)
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
        await revocation_queries.delete_proxy_tokens(db, user.id)
    await queries.set_global_grants(db, user.id, access, sorted(rights))


async def check_others(
    db: Queries, account_id: int, user: UserFacts, field: str | None = None
) -> None:
    """Raises 400 when nobody else could manage the account; it is locked by the caller."""
    own = user.user_type != "proxy" and not user.restricted
    if own and not await queries.has_other_unrestricted(db, account_id, user.id):
        raise invalid("The account needs at least one unrestricted user.", field)


async def restrict(db: Queries, account_id: int, user: UserFacts) -> None:
    """Before an unrestricted user becomes restricted: take all grants away."""
    await check_others(db, account_id, user, "restricted")
    await _reset_grants(db, user.id)


async def restrict_caller(context: Context, restricted: bool) -> None:
    """Users may restrict themselves, unless nobody else could manage the account then.

    Raises 403 for a restricted user who wants to be free. The row decides, as others may have
    changed the user since the request began.
    """
    await accounts.lock(context.db, context.account_id)
    user = await find_caller(context)
    if restricted == user.restricted:
        return
    if user.restricted:
        raise forbidden()
    await restrict(context.db, context.account_id, user)
    await queries.update(context.db, user.id, None, None, True)
    await context.revoke()


async def gravatar_of(context: Context) -> str:
    """The gravatar id of the caller."""
    user = await find_by_id(context.db, context.identity.user_id)
    return gravatar_id("" if user is None else user.email)
