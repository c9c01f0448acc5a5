"""What the API offers: maintenance of the account's instances (spec B account maintenance)."""

from roost.resources.maintenance.queries import MAINTENANCE
from roost.resources.maintenance.records import MaintenanceRow
from roost.web.call import Call
from roost.web.grants import Listed
from roost.web.registry import Page, endpoint


@endpoint(
    "GET",
    "/account/maintenance",
    grant=Listed("compute"),
    returns=Page(MaintenanceRow),
    filters=MAINTENANCE.columns,
)
async def list_maintenance(call: Call) -> bytes:
    """List maintenance of compute instances, without what was canceled.

    Reboots and moves of your instances that the operator has planned, begun or done.
    """
    return await call.collection(MAINTENANCE, call.account_id)
