"""What the API offers: the OAuth apps that the caller's user let in (reference: Profile)."""

from roost.core.public_url import PublicUrl
from roost.errors import not_found
from roost.resources.apps import queries
from roost.resources.apps.queries import APPS
from roost.resources.apps.records import AuthorizedAppRow
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_ONE = "/profile/apps/{appId:int}"


@endpoint(
    "GET",
    "/profile/apps",
    scopes=_READ,
    returns=Page(AuthorizedAppRow),
    filters=APPS.columns,
)
async def list_authorized_apps(call: Call) -> bytes:
    """List the apps that your user has let in.

    OAuth clients that you have allowed to use your account and that still can.
    """
    listing = call.get(PublicUrl).complete(APPS)
    return await call.collection(listing, call.identity.user_id, call.clock.now())


@endpoint("GET", _ONE, scopes=_READ, returns=AuthorizedAppRow)
async def view_authorized_app(call: Call) -> bytes:
    """View an app that your user has let in.

    What it may do and until when.
    """
    scope = call.identity.user_id, call.clock.now()
    return await call.record(call.number("appId"), call.get(PublicUrl).complete(APPS), *scope)


@endpoint("DELETE", _ONE, scopes=_WRITE)
async def revoke_authorized_app(call: Call) -> None:
    """Let an app in no longer: all its tokens end at once.

    It has to ask you again.
    """
    app_id, now = call.number("appId"), call.clock.seconds()
    if not await queries.holds(call.db, call.identity.user_id, app_id, now):
        raise not_found()
    await queries.revoke_family(call.db, app_id, now)
    await call.revoke()
