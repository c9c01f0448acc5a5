"""What the API offers: child accounts, for users of their parent (spec B child accounts)."""

from datetime import UTC, timedelta
from uuid import UUID

from roost.core.account_queries import lock
from roost.core.events import log
from roost.core.identity import UserType
from roost.core.scopes import Scopes
from roost.errors import forbidden, not_found
from roost.jobs.queue import JobQueue
from roost.resources.child_accounts.queries import BY_EUUID, CHILDREN, ProxyUser, find_proxy
from roost.resources.child_accounts.records import ChildAccountRow, ProxyTokenRow
from roost.resources.tokens.entity import TOKEN
from roost.resources.tokens.service import make_token
from roost.resources.users.rules import CHILD_ACCESS, UserFacts
from roost.resources.users.service import find_caller
from roost.web.call import Call
from roost.web.grants import Global
from roost.web.registry import Page, endpoint

LIFETIME = timedelta(minutes=15)
"""Of a proxy user's token (reference: operations)."""

_READ = ("child_account:read_only",)
_WRITE = ("child_account:read_write",)
_GRANT = Global(CHILD_ACCESS)
_ALL_BUT_PARENTS: tuple[UserType, ...] = ("default", "child", "proxy")
_ONE = "/account/child-accounts/{euuid}"


@endpoint(
    "GET",
    "/account/child-accounts",
    scopes=_READ,
    grant=_GRANT,
    refuses=_ALL_BUT_PARENTS,
    returns=Page(ChildAccountRow),
    filters=CHILDREN.columns,
)
async def list_child_accounts(call: Call) -> bytes:
    """List child accounts.

    The accounts of your customers; for users of a parent account.
    """
    return await call.collection(CHILDREN, call.account_id, call.clock.seconds())


@endpoint(
    "GET", _ONE, scopes=_READ, grant=_GRANT, refuses=_ALL_BUT_PARENTS, returns=ChildAccountRow
)
async def view_child_account(call: Call) -> bytes:
    """View a child account.

    For users of the child's parent account.
    """
    return await call.record(_euuid(call), BY_EUUID, call.account_id, call.clock.seconds())


@endpoint(
    "POST",
    f"{_ONE}/token",
    scopes=_WRITE,
    grant=_GRANT,
    refuses=_ALL_BUT_PARENTS,
    returns=ProxyTokenRow,
    events=("token_create",),
)
async def create_proxy_token(call: Call) -> ProxyTokenRow:
    """Create a token of a child account's proxy user, which lasts for 15 minutes.

    It ends sooner with the token that makes it, or when its maker may make no such tokens any more.
    """
    maker = await _lock_maker(call)
    proxy = await find_proxy(call.db, call.account_id, _euuid(call))
    if proxy is None:
        raise not_found()
    now = call.clock.seconds()
    unix_time = int(now.replace(tzinfo=UTC).timestamp())
    label = f"{maker.username}_{maker.id}_{unix_time}"
    scopes, expiry = Scopes.parse("*"), now + LIFETIME
    if call.identity.expiry is not None:
        expiry = min(expiry, call.identity.expiry)
    made = await make_token(
        call.db, call.clock, proxy.id, label, scopes, expiry, "proxy", made_by=maker.id
    )
    await _notify(call, proxy, made.id, label)
    return {
        "id": made.id,
        "scopes": "*",
        "created": now.isoformat(),
        "label": label,
        "token": made.text,
        "expiry": expiry.isoformat(),
    }


async def _lock_maker(call: Call) -> UserFacts:
    """The caller, whose right nobody takes away before the token is there to end with it."""
    await lock(call.db, call.account_id)
    maker = await find_caller(call)
    if maker.restricted and CHILD_ACCESS not in maker.rights:
        raise forbidden()
    return maker


def _euuid(call: Call) -> str:
    """In lower case, as the store compares it; raises 404 for what is no UUID."""
    try:
        return str(UUID(call.text("euuid")))
    except ValueError:
        raise not_found() from None


async def _notify(call: Call, proxy: ProxyUser, token_id: int, label: str) -> None:
    """In the child's account, where the label says who it was."""
    entity = TOKEN.entity(token_id, label)
    by = log.Starter(call.get(JobQueue), call.db, proxy.account_id, proxy.username)
    await log.notify(by, "token_create", entity)
