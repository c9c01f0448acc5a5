"""What the API offers: the account's notifications (spec B account notifications)."""

from roost.core.notices import Causes, NotificationRow
from roost.store.paging import page_of
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import Page, endpoint


@endpoint(
    "GET",
    "/account/notifications",
    scopes=("account:read_only",),
    grant=AccountAccess("read_only"),
    returns=Page(NotificationRow),
)
async def list_notifications(call: Call) -> bytes:
    """List notifications, which disappear when their cause does.

    What somebody should know of or do: outages, maintenance, tickets that wait.
    """
    rows = await call.get(Causes).notifications(call)
    return page_of(rows[::-1] if call.selection.descending else rows, call.page, call.page_size)
