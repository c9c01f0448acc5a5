"""What the API offers: the account itself (spec B account)."""

from collections.abc import Iterator

from roost.core.billing.queries import uninvoiced
from roost.core.events import log
from roost.errors import Problem, invalid_fields
from roost.resources.account import entity, managed_service, queries, rules
from roost.resources.account.bodies import UpdateAccount, UpdateSettings
from roost.resources.account.queries import OWN_ACCOUNT, SERVICES, SETTINGS, AccountFacts
from roost.resources.account.records import AccountRow, SettingsRow
from roost.resources.regions.records import ServicesRow
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Page, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_MAY_READ = AccountAccess("read_only")
_MAY_WRITE = AccountAccess("read_write")


@endpoint("GET", "/account", scopes=_READ, grant=_MAY_READ, returns=AccountRow)
async def view_account(call: Call) -> bytes:
    """View the account.

    Contact and billing data, what is owed, and what the account can use.
    """
    return await _view(call)


@endpoint(
    "PUT",
    "/account",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    refuses=("child",),
    body=UpdateAccount,
    returns=AccountRow,
    events=("account_update",),
)
async def update_account(call: Call, body: UpdateAccount) -> bytes:
    """Update the account.

    Fields that are omitted stay; an empty text takes a value away.
    """
    facts = await queries.lock(call.db, call.account_id)
    problems = list(_problems(facts, body))
    if problems:
        raise invalid_fields(problems)
    await queries.update(call.db, call.account_id, body.model_dump())
    await log.notify(call, "account_update", entity.ACCOUNT_KIND.entity())
    return await _view(call)


@endpoint("GET", "/account/settings", scopes=_READ, grant=_MAY_READ, returns=SettingsRow)
async def view_account_settings(call: Call) -> bytes:
    """View the account's settings.

    What holds for everything new in the account.
    """
    return await call.record(call.account_id, SETTINGS)


@endpoint(
    "PUT",
    "/account/settings",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    body=UpdateSettings,
    returns=SettingsRow,
    events=("account_settings_update",),
)
async def update_account_settings(call: Call, body: UpdateSettings) -> bytes:
    """Update the account's settings.

    They hold for what is made from now on.
    """
    await queries.update_settings(
        call.db, call.account_id, body.backups_enabled, body.network_helper
    )
    await log.notify(call, "account_settings_update", entity.SETTINGS_ENTITY)
    return await call.record(call.account_id, SETTINGS)


@endpoint(
    "POST",
    "/account/settings/managed-enable",
    scopes=_WRITE,
    grant=_MAY_WRITE,
    events=("managed_enabled",),
)
async def enable_managed_service(call: Call) -> None:
    """Enable the managed service for the account.

    The operator looks after its services from now on. It costs its price for each instance that the
    account has, and for each that it makes; the operator ends it.
    """
    await managed_service.enable(call)


@endpoint("GET", "/account/availability", scopes=_READ, grant=_MAY_READ, returns=Page(ServicesRow))
async def list_account_availability(call: Call) -> bytes:
    """List which services the account can use in which region.

    One row for each region.
    """
    return await call.collection(SERVICES)


@endpoint(
    "GET",
    "/account/availability/{regionId}",
    scopes=_READ,
    grant=_MAY_READ,
    returns=ServicesRow,
)
async def view_account_availability(call: Call) -> bytes:
    """View which services the account can use in a region.

    The names are those of the region's `capabilities`.
    """
    return await call.record(call.text("regionId"), SERVICES)


def _problems(facts: AccountFacts, body: UpdateAccount) -> Iterator[Problem]:
    """What only the account as it will be shows (rules 1 and 3)."""
    if facts.is_parent and facts.company and body.company not in (None, facts.company):
        yield Problem("The company of a parent account can't be changed", "company")
    country = facts.country if body.country is None else body.country
    if body.country is not None or body.state is not None:
        state = rules.state_problem(country, facts.state if body.state is None else body.state)
        if state is not None:
            yield Problem(state, "state")
    if body.country is not None or body.zip is not None:
        code = rules.zip_problem(country, facts.zip if body.zip is None else body.zip)
        if code is not None:
            yield Problem(code, "zip")


async def _view(call: Call) -> bytes:
    now = call.clock.now()
    used = await uninvoiced(call.db, call.account_id, now)
    return await call.record(call.account_id, OWN_ACCOUNT, now, used)
