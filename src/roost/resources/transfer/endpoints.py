"""What the API offers: the account's pool of outbound transfer (reference: Account transfer)."""

from roost.resources.compute.totals_queries import quota
from roost.resources.transfer.records import AccountTransferRow
from roost.web.call import Call
from roost.web.grants import AccountAccess
from roost.web.registry import endpoint


@endpoint(
    "GET",
    "/account/transfer",
    scopes=("account:read_only",),
    grant=AccountAccess("read_only"),
    returns=AccountTransferRow,
)
async def view_account_transfer(call: Call) -> AccountTransferRow:
    """View this month's pool of outbound transfer.

    Each instance adds what its plan gives for the part of the month from its creation on.
    """
    size = await quota(call.db, call.account_id, call.clock.now())
    return {"billable": 0, "quota": size, "used": 0, "region_transfers": []}
