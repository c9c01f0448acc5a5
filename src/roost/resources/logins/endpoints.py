"""What the API offers: logins of the last 90 days (spec B logins and notices)."""

from roost.resources.logins.queries import ACCOUNT_LOGINS, KEPT, PROFILE_LOGINS
from roost.resources.logins.records import LoginRow
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Page, endpoint

_READ = ("account:read_only",)


@endpoint("GET", "/profile/logins", scopes=_READ, returns=Page(LoginRow))
async def list_profile_logins(call: Call) -> bytes:
    """List the logins of your user.

    Successful and failed ones of the last 90 days, the newest first.
    """
    return await call.collection(PROFILE_LOGINS, call.identity.user_id, call.clock.now() - KEPT)


@endpoint("GET", "/profile/logins/{loginId:int}", scopes=_READ, returns=LoginRow)
async def view_profile_login(call: Call) -> bytes:
    """View a login of your user.

    When and from where it was.
    """
    scope = call.identity.user_id, call.clock.now() - KEPT
    return await call.record(call.number("loginId"), PROFILE_LOGINS, *scope)


@endpoint("GET", "/account/logins", scopes=_READ, grant=Unrestricted(), returns=Page(LoginRow))
async def list_account_logins(call: Call) -> bytes:
    """List the logins of all users of the account.

    Successful and failed ones of the last 90 days, the newest first.
    """
    return await call.collection(ACCOUNT_LOGINS, call.account_id, call.clock.now() - KEPT)


@endpoint(
    "GET",
    "/account/logins/{loginId:int}",
    scopes=_READ,
    grant=Unrestricted(),
    returns=LoginRow,
)
async def view_account_login(call: Call) -> bytes:
    """View a login of any user of the account.

    When and from where it was.
    """
    scope = call.account_id, call.clock.now() - KEPT
    return await call.record(call.number("loginId"), ACCOUNT_LOGINS, *scope)
