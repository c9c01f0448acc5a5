"""What the API offers: devices that the caller's user trusts (reference: Profile)."""

from roost.errors import not_found
from roost.resources.devices import queries
from roost.resources.devices.queries import DEVICES
from roost.resources.devices.records import TrustedDeviceRow
from roost.web.call import Call
from roost.web.registry import Page, endpoint

_READ = ("account:read_only",)
_WRITE = ("account:read_write",)
_ONE = "/profile/devices/{deviceId:int}"


@endpoint(
    "GET",
    "/profile/devices",
    scopes=_READ,
    returns=Page(TrustedDeviceRow),
    filters=DEVICES.columns,
)
async def list_trusted_devices(call: Call) -> bytes:
    """List the devices that your user trusts.

    Browsers that you let log in without a second factor, for 30 days.
    """
    return await call.collection(DEVICES, call.identity.user_id, call.clock.now())


@endpoint("GET", _ONE, scopes=_READ, returns=TrustedDeviceRow)
async def view_trusted_device(call: Call) -> bytes:
    """View a device that your user trusts.

    A browser that you let log in without a second factor.
    """
    scope = call.identity.user_id, call.clock.now()
    return await call.record(call.number("deviceId"), DEVICES, *scope)


@endpoint("DELETE", _ONE, scopes=_WRITE)
async def delete_trusted_device(call: Call) -> None:
    """Trust a device no longer.

    It needs a second factor at its next login.
    """
    user_id, device_id = call.identity.user_id, call.number("deviceId")
    if not await queries.delete(call.db, user_id, device_id, call.clock.now()):
        raise not_found()
