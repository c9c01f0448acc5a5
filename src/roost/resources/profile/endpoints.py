"""What the API offers: the profile of the caller's user (reference: Profile)."""

import orjson

from roost.core.events import log
from roost.errors import forbidden, invalid
from roost.resources.profile import queries
from roost.resources.profile.bodies import UpdatePreferences, UpdateProfile
from roost.resources.profile.queries import PROFILES
from roost.resources.profile.records import Preferences, ProfileRow
from roost.resources.two_factor.service import is_enabled
from roost.resources.users.entity import PROFILE
from roost.resources.users.records import GrantsRow
from roost.resources.users.service import find_caller, restrict_caller, view_grants
from roost.web.call import Call
from roost.web.registry import Maybe, endpoint
from roost.web.reply import Reply

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)


@endpoint("GET", "/profile", returns=ProfileRow)
async def view_profile(call: Call) -> bytes:
    """View the profile of your user.

    Who you are to this server. Any token may ask.
    """
    return await _view(call)


@endpoint(
    "PUT",
    "/profile",
    scopes=_WRITE,
    body=UpdateProfile,
    returns=ProfileRow,
    events=("profile_update",),
)
async def update_profile(call: Call, body: UpdateProfile) -> bytes:
    """Update the profile of your user.

    Fields that are omitted stay as they are.
    """
    identity = call.identity
    await _check_email(call, body.email)
    if identity.user_type == "proxy" and body.authorized_keys:
        raise forbidden()
    if body.restricted is not None:
        await restrict_caller(call, body.restricted)
    await _check_two_factor(call, body.two_factor_auth)
    await queries.update_profile(
        call.db,
        identity.user_id,
        body.model_dump(),
        sets_keys="authorized_keys" in body.model_fields_set,
    )
    entity = PROFILE.entity(label=identity.username)
    await log.notify(call, "profile_update", entity)
    return await _view(call)


@endpoint("GET", "/profile/preferences", scopes=_READ, returns=Preferences)
async def view_preferences(call: Call) -> str:
    """View what clients keep for your user.

    The object is as a client left it.
    """
    return await queries.find_preferences(call.db, call.identity.user_id)


@endpoint(
    "PUT",
    "/profile/preferences",
    scopes=_WRITE,
    body=UpdatePreferences,
    returns=Preferences,
)
async def update_preferences(call: Call, body: UpdatePreferences) -> str:
    """Replace what clients keep for your user: any JSON object.

    65535 bytes at most. What was kept before is gone, so send all of it.
    """
    preferences = orjson.dumps(body.model_extra).decode()
    await queries.save_preferences(call.db, call.identity.user_id, preferences)
    return preferences


@endpoint("GET", "/profile/grants", returns=Maybe(GrantsRow))
async def view_profile_grants(call: Call) -> str | Reply:
    """View your user's grants; 204 for an unrestricted user, who needs none.

    What you may do with what: `global` rights, and permissions on each entity.
    """
    return await view_grants(call, call.identity.user_id)


async def _check_email(call: Call, email: str | None) -> None:
    """Raises 403 when it is to change and is not the caller's: a proxy user's is of the parent,
    and an app that was let in has not to say where letters go."""
    identity = call.identity
    if email is None or not (identity.user_type == "proxy" or identity.by_app):
        return
    if email != (await find_caller(call)).email:
        raise forbidden()


async def _check_two_factor(call: Call, wanted: bool | None) -> None:
    """The profile only shows it; raises 400 for a change, which needs a code."""
    if wanted is None or wanted == await is_enabled(call.db, call.identity.user_id):
        return
    way = "Enable" if wanted else "Disable"
    raise invalid(f"{way} two-factor authentication with tfa-{way.lower()}", "two_factor_auth")


async def _view(call: Call) -> bytes:
    return await call.record(call.identity.user_id, PROFILES, call.account_id)
