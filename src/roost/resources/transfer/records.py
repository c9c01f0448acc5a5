"""Records of transfer (reference: Account transfer)."""

from typing_extensions import TypedDict


class RegionTransfer(TypedDict):
    """A region with a pool of its own; GB of this month."""

    id: str
    billable: int
    quota: int
    used: int


class AccountTransferRow(TypedDict):
    """The pool of outbound transfer; GB of this month."""

    billable: int
    quota: int
    used: int
    region_transfers: list[RegionTransfer]
