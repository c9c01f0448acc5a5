"""What the API offers: firewalls, their rules and devices (spec B firewalls)."""

from roost.resources.compute.locks import check_exists
from roost.resources.firewalls import locks, service
from roost.resources.firewalls.bodies import (
    AddDevice,
    CreateFirewall,
    ReplaceRules,
    UpdateFirewall,
)
from roost.resources.firewalls.device_queries import DEVICES
from roost.resources.firewalls.packets.bodies import ExplainPacket
from roost.resources.firewalls.packets.records import PacketPathRow
from roost.resources.firewalls.packets.service import explain
from roost.resources.firewalls.queries import (
    FIREWALLS,
    FIREWALLS_OF_INSTANCE,
    FIREWALLS_OF_NODEBALANCER,
    RULES,
)
from roost.resources.firewalls.records import FirewallDeviceRow, FirewallRow, ShownRulesRow
from roost.resources.nodebalancers.locks import check_exists as check_balancer_exists
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Write
from roost.web.registry import Page, endpoint

_READ = ("firewall:read_only",)
_WRITE = ("firewall:read_write",)
_ALL = "/networking/firewalls"
_ONE = f"{_ALL}/{{firewallId:int}}"
_DEVICES = f"{_ONE}/devices"
_DEVICE = f"{_DEVICES}/{{deviceId:int}}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Listed("firewall"),
    returns=Page(FirewallRow),
    filters=FIREWALLS.columns,
)
async def list_firewalls(call: Call) -> bytes:
    """List firewalls.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(FIREWALLS, call.account_id)


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Global("add_firewalls"),
    body=CreateFirewall,
    returns=FirewallRow,
    events=("firewall_create",),
)
async def create_firewall(call: Call, body: CreateFirewall) -> bytes:
    """Create a firewall.

    It is enabled, and in force when its event is finished. Users need to be able to change the
    instances that are its devices; each of them has one enabled firewall at most.
    """
    firewall_id = await service.create(call, body)
    return await fetch_record(call.db, FIREWALLS, (call.account_id,), firewall_id)


@endpoint("GET", _ONE, scopes=_READ, grant=Read("firewall"), returns=FirewallRow)
async def view_firewall(call: Call) -> bytes:
    """View a firewall.

    With the services that are behind it; its devices are a list of their own.
    """
    return await call.record(call.number("firewallId"), FIREWALLS, call.account_id)


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("firewall"),
    body=UpdateFirewall,
    of=view_firewall,
    returns=FirewallRow,
    events=("firewall_update", "firewall_enable", "firewall_disable"),
)
async def update_firewall(call: Call, body: UpdateFirewall) -> bytes:
    """Update a firewall.

    Its name, its tags, and whether it filters: one that is disabled leaves its devices open.
    """
    await service.update(call, call.number("firewallId"), body)
    return await _record(call)


@endpoint("DELETE", _ONE, scopes=_WRITE, grant=Write("firewall"), events=("firewall_delete",))
async def delete_firewall(call: Call) -> None:
    """Delete a firewall.

    Its devices are open when the event is finished.
    """
    await service.delete(call, call.number("firewallId"))


@endpoint("GET", f"{_ONE}/rules", scopes=_READ, grant=Read("firewall"), returns=ShownRulesRow)
async def view_firewall_rules(call: Call) -> bytes:
    """View the rules of a firewall.

    The same as in its record.
    """
    return await _rules(call)


@endpoint(
    "PUT",
    f"{_ONE}/rules",
    scopes=_WRITE,
    grant=Write("firewall"),
    body=ReplaceRules,
    of=view_firewall,
    returns=ShownRulesRow,
    events=("firewall_rules_update",),
)
async def replace_firewall_rules(call: Call, body: ReplaceRules) -> bytes:
    """Replace the rules of a firewall.

    All of them at once: no packet meets a part of the new ones. Connections that the new rules
    would not let begin are cut when the event is finished.
    """
    await service.replace_rules(call, call.number("firewallId"), body)
    return await _rules(call)


@endpoint(
    "GET",
    _DEVICES,
    scopes=_READ,
    grant=Read("firewall"),
    returns=Page(FirewallDeviceRow),
    filters=DEVICES.columns,
)
async def list_firewall_devices(call: Call) -> bytes:
    """List the devices of a firewall.

    The services that are behind it.
    """
    firewall_id = await locks.check_exists(call, call.number("firewallId"))
    return await call.collection(DEVICES, call.account_id, firewall_id)


@endpoint(
    "POST",
    _DEVICES,
    scopes=_WRITE,
    grant=Write("firewall"),
    body=AddDevice,
    of=view_firewall,
    returns=FirewallDeviceRow,
    events=("firewall_device_add",),
)
async def create_firewall_device(call: Call, body: AddDevice) -> bytes:
    """Put a service behind a firewall.

    Users need to be able to change it too. It has one enabled firewall at most, and any number of
    disabled ones.
    """
    firewall_id = call.number("firewallId")
    device_id = await service.add_device(call, firewall_id, body)
    return await fetch_record(call.db, DEVICES, (call.account_id, firewall_id), device_id)


@endpoint("GET", _DEVICE, scopes=_READ, grant=Read("firewall"), returns=FirewallDeviceRow)
async def view_firewall_device(call: Call) -> bytes:
    """View a device of a firewall.

    Which service it is.
    """
    scope = (call.account_id, call.number("firewallId"))
    return await call.record(call.number("deviceId"), DEVICES, *scope)


@endpoint(
    "DELETE",
    _DEVICE,
    scopes=_WRITE,
    grant=Write("firewall"),
    events=("firewall_device_remove",),
)
async def delete_firewall_device(call: Call) -> None:
    """Take a service from behind a firewall.

    It is open when the event is finished, unless another one filters it.
    """
    firewall_id = call.number("firewallId")
    await service.remove_device(call, firewall_id, call.number("deviceId"))


@endpoint(
    "GET",
    "/compute/instances/{computeId:int}/firewalls",
    scopes=("computes:read_only",),
    grant=Read("compute"),
    returns=Page(FirewallRow),
    filters=FIREWALLS.columns,
)
async def list_firewalls_of_instance(call: Call) -> bytes:
    """List the firewalls of a compute instance.

    Those that it is behind, enabled or not.
    """
    compute_id = await check_exists(call, call.number("computeId"))
    return await call.collection(FIREWALLS_OF_INSTANCE, call.account_id, compute_id)


async def _record(call: Call) -> bytes:
    return await fetch_record(call.db, FIREWALLS, (call.account_id,), call.number("firewallId"))


async def _rules(call: Call) -> bytes:
    return await fetch_record(call.db, RULES, (call.account_id,), call.number("firewallId"))


@endpoint(
    "POST",
    "/networking/explain",
    scopes=(*_READ, "ips:read_only"),
    body=ExplainPacket,
    prepare=explain,
    returns=PacketPathRow,
)
async def explain_packet(_call: Call, found: PacketPathRow) -> PacketPathRow:
    """Explain what becomes of a packet.

    Which rule or policy of which firewall decides on the first packet of a connection, or which
    filter or route before it, without sending anything. Users need to be able to see the instances
    at both ends and their firewalls; what another customer has at the other end is not told. An
    extension of Roost.
    """
    return found


@endpoint(
    "GET",
    "/nodebalancers/{nodeBalancerId:int}/firewalls",
    scopes=("nodebalancers:read_only",),
    grant=Read("nodebalancer", of="nodeBalancerId"),
    returns=Page(FirewallRow),
    filters=FIREWALLS_OF_NODEBALANCER.columns,
)
async def list_firewalls_of_nodebalancer(call: Call) -> bytes:
    """List the firewalls of a NodeBalancer.

    Those that it is behind, of which one is enabled. Restricted users see those that are granted to
    them.
    """
    nodebalancer_id = await check_balancer_exists(call, call.number("nodeBalancerId"))
    return await call.collection(FIREWALLS_OF_NODEBALANCER, call.account_id, nodebalancer_id)
