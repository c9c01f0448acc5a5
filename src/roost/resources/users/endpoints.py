"""What the API offers: the users of an account and their grants (reference: operations)."""

from asyncpg import UniqueViolationError

from roost.core import account_queries as accounts
from roost.core.events import log
from roost.core.identity import UserType
from roost.core.limits.check import check_limits
from roost.errors import ApiError, forbidden, invalid, not_found
from roost.resources.users import queries, service
from roost.resources.users.bodies import CreateUser, UpdateGrants, UpdateUser
from roost.resources.users.entity import USER
from roost.resources.users.queries import BY_NAME, USERS
from roost.resources.users.records import GrantsRow, UserRow
from roost.resources.users.rules import RESERVED_NAMES, UserFacts
from roost.resources.users.service import check_others, lock_users, restrict
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Maybe, Page, endpoint
from roost.web.reply import Reply

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_ONE = "/account/users/{username}"
_PROXIES: tuple[UserType, ...] = ("proxy",)
"""Whom an account lets in is the business of its own people."""


@endpoint(
    "GET",
    "/account/users",
    scopes=_READ,
    grant=Unrestricted(),
    returns=Page(UserRow),
    filters=USERS.columns,
)
async def list_users(call: Call) -> bytes:
    """List users.

    Everybody who can use the account.
    """
    return await call.collection(USERS, call.account_id)


@endpoint(
    "POST",
    "/account/users",
    scopes=_WRITE,
    grant=Unrestricted(),
    refuses=("oauth", "proxy"),
    body=CreateUser,
    returns=UserRow,
    events=("user_create",),
)
async def create_user(call: Call, body: CreateUser) -> bytes:
    """Create a user.

    The user has no password at first: the operator sets one. A restricted user has no grants
    until they are given some.
    """
    _check_name(body.username)
    await lock_users(call)
    try:
        user_id = await accounts.create_user(
            call.db,
            call.account_id,
            body.username,
            body.restricted,
            call.clock.seconds(),
            body.email,
        )
    except UniqueViolationError:
        raise _taken() from None
    await _notify(call, "user_create", user_id, body.username)
    await check_limits(call, queries.LIMIT)
    return await call.record(user_id, USERS, call.account_id)


@endpoint("GET", _ONE, scopes=_READ, grant=Unrestricted(), returns=UserRow)
async def view_user(call: Call) -> bytes:
    """View a user.

    Whether they are restricted and when they last logged in.
    """
    return await call.record(call.text("username"), BY_NAME, call.account_id)


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Unrestricted(),
    refuses=_PROXIES,
    body=UpdateUser,
    of=view_user,
    returns=UserRow,
    events=("user_update",),
)
async def update_user(call: Call, body: UpdateUser) -> bytes:
    """Update a user.

    Restricting one takes all grants away. The last unrestricted user stays unrestricted.
    """
    user = await _lock(call)
    renamed = body.username not in (None, user.username)
    moved = body.email not in (None, user.email)
    if user.user_type == "proxy" and (renamed or moved):
        raise forbidden()
    if call.identity.by_app and moved:
        raise forbidden()
    if renamed and body.username is not None:
        _check_name(body.username)
    if body.restricted and not user.restricted:
        await restrict(call.db, call.account_id, user)
    try:
        await queries.update(call.db, user.id, body.username, body.email, body.restricted)
    except UniqueViolationError:
        raise _taken() from None
    await _notify(call, "user_update", user.id, body.username or user.username)
    return await call.record(user.id, USERS, call.account_id)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Unrestricted(),
    refuses=_PROXIES,
    events=("user_delete",),
)
async def delete_user(call: Call) -> None:
    """Delete a user with all tokens.

    What the user made stays. The last unrestricted user cannot be deleted, nor can you delete
    yourself.
    """
    user = await _lock(call)
    if user.user_type == "proxy":
        raise forbidden()
    await check_others(call.db, call.account_id, user)
    if user.id == call.identity.user_id:
        raise invalid("You can't delete yourself.")
    await queries.delete(call.db, user.id)
    await _notify(call, "user_delete", user.id, user.username)


@endpoint("GET", f"{_ONE}/grants", scopes=_READ, grant=Unrestricted(), returns=Maybe(GrantsRow))
async def view_user_grants(call: Call) -> str | Reply:
    """View a user's grants; 204 for an unrestricted user, who needs none.

    `global` rights, and permissions on each entity of the account.
    """
    user = await queries.find(call.db, call.account_id, call.text("username"))
    if user is None:
        raise not_found()
    return await service.view_grants(call, user.id)


@endpoint(
    "PUT",
    f"{_ONE}/grants",
    scopes=_WRITE,
    grant=Unrestricted(),
    refuses=_PROXIES,
    body=UpdateGrants,
    of=view_user,
    returns=GrantsRow,
    events=("user_update",),
)
async def update_user_grants(call: Call, body: UpdateGrants) -> str | Reply:
    """Update a user's grants.

    Only what is named changes.
    """
    user = await _lock(call)
    await service.change_grants(call, user, body)
    await _notify(call, "user_update", user.id, user.username)
    return await service.view_grants(call, user.id)


async def _lock(call: Call) -> UserFacts:
    await lock_users(call)
    user = await queries.find(call.db, call.account_id, call.text("username"))
    if user is None:
        raise not_found()
    return user


def _check_name(username: str) -> None:
    if username.lower() in RESERVED_NAMES:
        raise invalid("This username is reserved", "username")


def _taken() -> ApiError:
    return invalid("This username is taken", "username")


async def _notify(call: Call, action: str, user_id: int, username: str) -> None:
    """The event, and all processes: what they remember of the user is void."""
    entity = USER.entity(user_id, username)
    await log.notify(call, action, entity)
    await call.revoke()
