"""Records of transfer (reference: Account transfer)."""

from typing_extensions import TypedDict

from roost.core.formats import example


class RegionTransfer(TypedDict):
    """A region with a pool of its own; GB of this month."""

    id: str
    """The id of the region."""
    billable: int
    """GB beyond the pool."""
    quota: int
    """GB that the pool holds."""
    used: int
    """GB used."""


@example({"billable": 0, "quota": 2000, "used": 37, "region_transfers": []})
class AccountTransferRow(TypedDict):
    """The pool of outbound transfer; GB of this month."""

    billable: int
    """GB beyond the pool."""
    quota: int
    """GB that the pool holds: what the plans of the account's instances give."""
    used: int
    """GB used."""
    region_transfers: list[RegionTransfer]
    """Regions with a pool of their own."""
