"""What the API offers: VLANs (spec B networking vlans)."""

from roost.resources.vlans.queries import VLANS
from roost.resources.vlans.records import VlanRow
from roost.web.call import Call
from roost.web.registry import Page, endpoint


@endpoint(
    "GET",
    "/networking/vlans",
    scopes=("computes:read_only",),
    returns=Page(VlanRow),
    filters=VLANS.columns,
)
async def list_vlans(call: Call) -> bytes:
    """List VLANs.

    Those that instances of the account have interfaces to; restricted users see the instances that
    are granted to them.
    """
    return await call.collection(VLANS, call.account_id, call.grantee)
