"""What the API offers: the account's pool of outbound transfer (reference: Account transfer)."""

from roost.resources.account.queries import has_object_storage
from roost.resources.compute.totals_queries import quota
from roost.resources.object_storage.service import sent
from roost.resources.transfer.records import AccountTransferRow
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import endpoint

_OF_OBJECT_STORAGE = 1000
"""GB (spec A object storage 10)."""
_GB = 10**9


@endpoint(
    "GET",
    "/account/transfer",
    scopes=("account:read_only",),
    grant=AccountAccess("read_only"),
    returns=AccountTransferRow,
)
async def view_account_transfer(call: Call) -> AccountTransferRow:
    """View this month's pool of outbound transfer.

    Each instance adds what its plan gives for the part of the month from its creation on, and
    object storage 1000 GB. Used is what clients have got from object storage.
    """
    size = await quota(call.db, call.account_id, call.clock.now())
    if await has_object_storage(call.db, call.account_id):
        size += _OF_OBJECT_STORAGE
    used = await sent(call) // _GB
    return {"billable": max(0, used - size), "quota": size, "used": used, "region_transfers": []}
