"""Jobs, and what has happened by whom."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import get_args

from roost.app.operator import jobs
from roost.app.terminal import fields
from roost.core.events import listing_queries as events
from roost.dashboard.desk import Desk
from roost.dashboard.page import Act, Input, Page, Sent
from roost.dashboard.parts import Asked, Part, Record, Table
from roost.errors import OperatorError
from roost.ids import MAX_ID
from roost.jobs import listing_queries as listing
from roost.jobs.model import Status

_MOST = 500
_ALL = "all"
_UNFINISHED = "unfinished or failed"
_NOT_SHOWN = ("done", "cancelled")
_STATUSES = tuple(get_args(Status))
_TIMES = {"hour": 1, "day": 24, "2 days": 48, "week": 7 * 24, "month": 30 * 24}


async def _jobs(desk: Desk, asked: Asked) -> Sequence[Part]:
    status = asked.query.get("status", _UNFINISHED)
    statuses: Sequence[str] = () if status == _ALL else (status,)
    if status not in _STATUSES and status != _ALL:
        statuses = [each for each in _STATUSES if each not in _NOT_SHOWN]
    wanted = listing.Wanted(
        statuses=statuses,
        kind=asked.query.get("kind") or None,
        account_id=_id(asked, "account"),
        scheduled=status != _ALL,
        limit=_MOST,
    )
    found = await listing.list_jobs(desk.store, wanted)
    columns = ("id", "kind", "resource", "account_id", "status", "created")
    rows = [fields(each) for each in found]
    return (Table("", rows, (*columns, "error"), ("/jobs/", "id")),)


def _id(asked: Asked, name: str) -> int | None:
    """Raises OperatorError."""
    text = asked.query.get(name, "").strip()
    if not text:
        return None
    if not (text.isdecimal() and text.isascii() and len(text) < 20 and 0 < int(text) <= MAX_ID):
        raise OperatorError(f"{name}: must be a number")
    return int(text)


async def _job(desk: Desk, asked: Asked) -> Sequence[Part]:
    return (Record("", await jobs.describe(desk.store, asked.number("id"))),)


async def _retry(desk: Desk, asked: Asked, _sent: Sent) -> None:
    await jobs.retry(desk.store, await desk.clock(), asked.number("id"))


async def _cancel(desk: Desk, asked: Asked, _sent: Sent) -> None:
    await jobs.cancel(desk.store, await desk.clock(), asked.number("id"))


async def _events(desk: Desk, asked: Asked) -> Sequence[Part]:
    hours = _TIMES.get(asked.query.get("within", "day"), 24)
    wanted = events.Wanted(
        account_id=_id(asked, "account"),
        username=asked.query.get("user") or None,
        since=(await desk.clock()).now() - timedelta(hours=hours),
    )
    found = list(reversed(await events.list_recent(desk.store, wanted, _MOST)))
    done = Counter((each.account_id, each.username or "the system") for each in found)
    failed = Counter(
        (each.account_id, each.username or "the system")
        for each in found
        if each.status == "failed"
    )
    by_user = [
        {"account": account, "user": user, "events": count, "failed": failed[account, user]}
        for (account, user), count in done.most_common()
    ]
    columns = ("created", "account_id", "username", "action", "status", "label")
    return (
        Table("By whom", by_user, ("user", "account", "events", "failed")),
        Table(
            f"The latest, at most {_MOST}",
            [fields(each) for each in found],
            (*columns, "message"),
        ),
    )


PAGES = (
    Page(
        "/jobs",
        "Jobs",
        _jobs,
        lead=f"The latest first, at most {_MOST}.",
        filters=(
            Input("status", "Status", (_UNFINISHED, _ALL, *_STATUSES), _UNFINISHED),
            Input("kind", "Kind"),
            Input("account", "Account"),
        ),
        in_menu=True,
    ),
    Page(
        "/jobs/{id}",
        "Job {id}",
        _job,
        acts=(
            Act("retry", "Try again now", "For a job that waits after a failure.", _retry),
            Act(
                "cancel",
                "Cancel",
                "What it did is undone; its event fails and says so.",
                _cancel,
                confirm="id",
            ),
        ),
    ),
    Page(
        "/events",
        "What happened",
        _events,
        lead="What all accounts were told, and who did it.",
        filters=(
            Input("within", "Within the last", tuple(_TIMES), "day"),
            Input("account", "Account"),
            Input("user", "User"),
        ),
        in_menu=True,
    ),
)
