"""What the API offers: transfers, by their name and by the one before (spec B account)."""

from roost.resources.transfers import service
from roost.resources.transfers.bodies import CreateTransfer
from roost.resources.transfers.queries import KNOWN, TRANSFERS
from roost.resources.transfers.records import TransferRow
from roost.web.call import Call
from roost.web.grants import Unrestricted
from roost.web.registry import Endpoint, Page, Rate, endpoint, renamed

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_ALL = "/account/service-transfers"
_ONE = f"{_ALL}/{{token}}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Unrestricted(),
    returns=Page(TransferRow),
    filters=TRANSFERS.columns,
)
async def list_service_transfers(call: Call) -> bytes:
    """List service transfers.

    Those that the account has offered, and those that it has accepted.
    """
    return await call.collection(TRANSFERS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Unrestricted(),
    refuses=("proxy",),
    body=CreateTransfer,
    returns=TransferRow,
    events=("entity_transfer_create",),
)
async def create_service_transfer(call: Call, body: CreateTransfer) -> bytes:
    """Create a service transfer.

    The instances stay as they are until another account accepts. They must have no volumes,
    firewalls, VLANs, VPCs, shared addresses and planned maintenance, and be in no other transfer
    that is pending.
    """
    token = await service.create(call, body.entities.computes)
    return await call.record(token, TRANSFERS, call.account_id)


@endpoint("GET", _ONE, scopes=_READ, grant=Unrestricted(), returns=TransferRow)
async def view_service_transfer(call: Call) -> bytes:
    """View a service transfer.

    One that is pending is shown to unrestricted users of all accounts who know its token.
    """
    return await call.record(_token(call), KNOWN, call.account_id)


@endpoint(
    "DELETE",
    _ONE,
    scopes=_WRITE,
    grant=Unrestricted(),
    events=("entity_transfer_cancel",),
)
async def cancel_service_transfer(call: Call) -> None:
    """Cancel a service transfer.

    As long as it is pending.
    """
    await service.cancel(call, _token(call))


@endpoint(
    "POST",
    f"{_ONE}/accept",
    scopes=_WRITE,
    grant=Unrestricted(),
    events=("entity_transfer_accept",),
    rate=Rate(2, 60),
)
async def accept_service_transfer(call: Call) -> None:
    """Accept a service transfer.

    The instances are the account's from now on, with disks, configs, backups and addresses; tags
    and grants are gone. They run on. It needs a payment method, and no debts on either side.
    """
    await service.accept(call, _token(call))


def _before(of: Endpoint, name: str, summary: str) -> Endpoint:
    return renamed(of, name, of.path.replace("service", "entity"), summary, deprecated=True)


list_entity_transfers = _before(
    list_service_transfers, "list_entity_transfers", "List entity transfers."
)
create_entity_transfer = _before(
    create_service_transfer, "create_entity_transfer", "Create an entity transfer."
)
view_entity_transfer = _before(
    view_service_transfer, "view_entity_transfer", "View an entity transfer."
)
cancel_entity_transfer = _before(
    cancel_service_transfer, "cancel_entity_transfer", "Cancel an entity transfer."
)
accept_entity_transfer = _before(
    accept_service_transfer, "accept_entity_transfer", "Accept an entity transfer."
)


def _token(call: Call) -> str:
    """A UUID, which is the same in lower case."""
    return call.text("token").upper()
