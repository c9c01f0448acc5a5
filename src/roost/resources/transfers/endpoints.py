"""What the API offers: transfers by their deprecated name (spec B account)."""

from roost.resources.transfers import service
from roost.resources.transfers.bodies import CreateTransfer
from roost.resources.transfers.queries import KNOWN, TRANSFERS
from roost.resources.transfers.records import TransferRow
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Page, Rate, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_ALL = "/account/entity-transfers"
_ONE = f"{_ALL}/{{token}}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Unrestricted(),
    returns=Page(TransferRow),
    filters=TRANSFERS.columns,
    deprecated=True,
)
async def list_entity_transfers(call: Call) -> bytes:
    """List entity transfers.

    The same as that of service transfers, which are to be used instead.
    """
    return await call.collection(TRANSFERS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Unrestricted(),
    body=CreateTransfer,
    returns=TransferRow,
    events=("entity_transfer_create",),
    deprecated=True,
)
async def create_entity_transfer(call: Call, body: CreateTransfer) -> bytes:
    """Create an entity transfer.

    The same as that of service transfers, which are to be used instead.
    """
    token = await service.create(call, body.entities.computes)
    return await call.record(token, TRANSFERS, call.account_id)


@endpoint("GET", _ONE, scopes=_READ, grant=Unrestricted(), returns=TransferRow, deprecated=True)
async def view_entity_transfer(call: Call) -> bytes:
    """View an entity transfer.

    The same as that of service transfers, which are to be used instead.
    """
    return await call.record(call.text("token"), KNOWN, call.account_id)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Unrestricted(),
    events=("entity_transfer_cancel",),
    deprecated=True,
)
async def cancel_entity_transfer(call: Call) -> None:
    """Cancel an entity transfer.

    The same as that of service transfers, which are to be used instead.
    """
    await service.cancel(call, call.text("token"))


@endpoint(
    "POST",
    f"{_ONE}/accept",
    scopes=_WRITE,
    grant=Unrestricted(),
    events=("entity_transfer_accept",),
    rate=Rate(2, 60),
    deprecated=True,
)
async def accept_entity_transfer(call: Call) -> None:
    """Accept an entity transfer.

    The same as that of service transfers, which are to be used instead.
    """
    await service.accept(call, call.text("token"))
