"""What the API offers: usage of instances, and the account's pool (reference: Account transfer)."""

from roost.resources.usage import service
from roost.resources.usage.records import (
    AccountTransferRow,
    InstanceTransferRow,
    MonthTransferRow,
    StatsRow,
)
from roost.web.call import Call
from roost.web.grants import AccountAccess, Read
from roost.web.registry import Rate, endpoint

_ONE = "/compute/instances/{computeId:int}"
_READ = ("computes:read_only",)
_MONTH = "{year:int}/{month:int}"
_STATS_RATE = Rate(50, 60)


@endpoint(
    "GET",
    f"{_ONE}/stats",
    scopes=_READ,
    grant=Read("compute"),
    returns=StatsRow,
    rate=_STATS_RATE,
)
async def view_instance_stats(call: Call) -> str:
    """View what an instance used in the last 24 hours.

    Means over five minutes. There are none until it has run for that long.
    """
    return await service.view_stats(call, call.number("computeId"))


@endpoint(
    "GET",
    f"{_ONE}/stats/{_MONTH}",
    scopes=_READ,
    grant=Read("compute"),
    returns=StatsRow,
    rate=_STATS_RATE,
)
async def view_instance_stats_of_month(call: Call) -> str:
    """View what an instance used in a month.

    Means over an hour; they are kept for 400 days.
    """
    year, month = call.number("year"), call.number("month")
    return await service.view_stats_of_month(call, call.number("computeId"), year, month)


@endpoint(
    "GET", f"{_ONE}/transfer", scopes=_READ, grant=Read("compute"), returns=InstanceTransferRow
)
async def view_instance_transfer(call: Call) -> InstanceTransferRow:
    """View what an instance sent out this month.

    Traffic between private addresses does not count.
    """
    return await service.view_transfer(call, call.number("computeId"))


@endpoint(
    "GET",
    f"{_ONE}/transfer/{_MONTH}",
    scopes=_READ,
    grant=Read("compute"),
    returns=MonthTransferRow,
)
async def view_instance_transfer_of_month(call: Call) -> MonthTransferRow:
    """View an instance's traffic of a month.

    In both directions, without that between private addresses.
    """
    year, month = call.number("year"), call.number("month")
    return await service.view_transfer_of_month(call, call.number("computeId"), year, month)


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
    object storage 1000 GB.
    """
    return await service.view_pool(call)
