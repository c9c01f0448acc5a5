"""Accounts: what they use, may have and owe, and whether they rest."""

from collections.abc import Sequence

from roost.app.operator.limits import NAMES, list_limits, parse_amount, reset_limit, set_limit
from roost.app.operator.uses import Use, most
from roost.app.terminal import fields
from roost.core.events.listing_queries import Wanted, list_recent
from roost.dashboard.desk import Desk
from roost.dashboard.page import Act, Input, Page, Sent
from roost.dashboard.parts import AbsentError, Asked, Part, Record, Table
from roost.errors import OperatorError
from roost.resources.account.queries import list_accounts
from roost.resources.suspension import service as suspension
from roost.resources.suspension.service import SuspensionError

_ALL = 10_000
_EVENTS = 50
_USES: tuple[Use, ...] = (
    "owed",
    "instances",
    "vcpus",
    "memory",
    "disk",
    "volumes",
    "objects",
    "sent",
)


async def _accounts(desk: Desk, asked: Asked) -> Sequence[Part]:
    by = asked.query.get("by", "owed")
    use = next((each for each in _USES if each == by), _USES[0])
    known = {each.id: fields(each) for each in await list_accounts(desk.store)}
    used = await most(desk.store, use, (await desk.clock()).now(), _ALL)
    rows = [{**known[each.account_id], **fields(each)} for each in used if each.account_id in known]
    shown = dict.fromkeys(("id", "email", "company", "suspended", "owed", "instances", use))
    return (Table("", rows, tuple(shown), ("/accounts/", "id")),)


async def _account(desk: Desk, asked: Asked) -> Sequence[Part]:
    account_id = asked.number("id")
    found = [each for each in await list_accounts(desk.store) if each.id == account_id]
    if not found:
        raise AbsentError(f"there is no account {account_id}")
    used = await most(desk.store, "owed", (await desk.clock()).now(), _ALL)
    has = next((fields(each) for each in used if each.account_id == account_id), {})
    limits = await list_limits(desk.store, desk.settings, account_id)
    events = await list_recent(desk.store, Wanted(account_id=account_id), _EVENTS)
    return (
        Record("", {**fields(found[0]), **has}),
        Table("Limits", [fields(each) for each in limits], ("limit", "used", "allowed", "set_by")),
        Table(
            "The latest events",
            [fields(each) for each in reversed(events)],
            ("created", "username", "action", "status", "label", "message"),
        ),
    )


async def _suspend(desk: Desk, asked: Asked, sent: Sent) -> None:
    if not sent["reason"]:
        raise OperatorError("Reason: must be 1-500 characters, for its users to read")
    now = (await desk.clock()).seconds()
    try:
        async with desk.store.transaction() as db:
            await suspension.suspend(db, asked.number("id"), "operator", sent["reason"], now)
    except SuspensionError as error:
        raise OperatorError(str(error)) from error


async def _resume(desk: Desk, asked: Asked, _sent: Sent) -> None:
    try:
        async with desk.store.transaction() as db:
            await suspension.resume(db, asked.number("id"))
    except SuspensionError as error:
        raise OperatorError(str(error)) from error


async def _limit(desk: Desk, asked: Asked, sent: Sent) -> None:
    account_id, name, amount = asked.number("id"), sent["limit"], sent["amount"]
    if amount:
        await set_limit(desk.store, account_id, name, parse_amount(amount))
    else:
        await reset_limit(desk.store, account_id, name)


PAGES = (
    Page(
        "/accounts",
        "Accounts",
        _accounts,
        lead="Those first that have most of something. Memory and disk are MB, volumes GiB, "
        "objects and what was sent this month bytes, and what is owed US dollars.",
        filters=(Input("by", "Most", _USES, _USES[0]),),
        in_menu=True,
    ),
    Page(
        "/accounts/{id}",
        "Account {id}",
        _account,
        acts=(
            Act(
                "limit",
                "Set a limit",
                "A number, or `unlimited`; empty: what the catalogue says. It holds from the next "
                "request on.",
                _limit,
                (Input("limit", "Limit", NAMES, NAMES[0]), Input("amount", "Amount")),
            ),
            Act(
                "suspend",
                "Suspend",
                "Its instances and databases are shut down, data are kept. A payment does not end "
                "it.",
                _suspend,
                (Input("reason", "Reason, for its users to read"),),
                confirm="id",
            ),
            Act("resume", "Resume", "It goes on, for whatever it was suspended.", _resume),
        ),
    ),
)
