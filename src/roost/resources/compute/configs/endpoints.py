"""What the API offers: configs of instances (reference: operations, Compute instances)."""

from roost.core.instance_queries import InstanceFacts
from roost.errors import invalid, invalid_fields, not_found
from roost.resources.compute import limits
from roost.resources.compute.configs import interface_queries, service
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.bodies import (
    AddInterface,
    CreateConfig,
    OrderInterfaces,
    UpdateConfig,
    UpdateInterface,
)
from roost.resources.compute.configs.interface_queries import InterfaceFacts
from roost.resources.compute.configs.interface_rules import wanted_place
from roost.resources.compute.configs.queries import CONFIGS, INTERFACES, ConfigFacts, ConfigName
from roost.resources.compute.configs.records import ConfigRow, InterfaceRow
from roost.resources.compute.configs.service import (
    adding_problem,
    find_config,
    lock_config,
    place_one,
    updating_problem,
)
from roost.resources.compute.locks import check_exists, check_open, lock
from roost.web.call import Call
from roost.web.grants import Read, Write
from roost.web.registry import Array, Page, endpoint

_READ = ("computes:read_only",)
_WRITE = ("computes:read_write",)
_ALL = "/compute/instances/{computeId:int}/configs"
_ONE = f"{_ALL}/{{configId:int}}"


@endpoint(
    "GET",
    _ALL,
    scopes=_READ,
    grant=Read("compute"),
    returns=Page(ConfigRow),
    filters=CONFIGS.columns,
)
async def list_configs(call: Call) -> bytes:
    """List the configs of a compute instance.

    A config says which disks, volumes and interfaces the guest finds when it boots.
    """
    return await call.collection(
        CONFIGS, call.account_id, await check_exists(call, call.number("computeId"))
    )


@endpoint("GET", _ONE, scopes=_READ, grant=Read("compute"), returns=ConfigRow)
async def view_config(call: Call) -> bytes:
    """View a config.

    With its interfaces.
    """
    return await _view(call, call.number("configId"))


@endpoint(
    "POST",
    _ALL,
    scopes=_WRITE,
    grant=Write("compute"),
    body=CreateConfig,
    of=list_configs,
    returns=ConfigRow,
    events=("compute_config_create",),
)
async def create_config(call: Call, body: CreateConfig) -> bytes:
    """Create a config.

    It is used when the instance is booted with it.
    """
    instance = await lock(call, call.number("computeId"))
    check_open(instance)
    return await _view(call, await service.create(call, instance, body))


@endpoint(
    "PUT",
    _ONE,
    scopes=_WRITE,
    grant=Write("compute"),
    body=UpdateConfig,
    of=view_config,
    returns=ConfigRow,
    events=("compute_config_update",),
)
async def update_config(call: Call, body: UpdateConfig) -> bytes:
    """Update a config.

    `devices` and `interfaces` are replaced as a whole. A guest that runs finds the changes at
    its next boot, except volumes, which it finds at once.
    """
    instance, config = await lock_config(call, call.number("computeId"), call.number("configId"))
    await service.update(call, instance, config, body)
    return await _view(call, config.id)


@endpoint("DELETE", _ONE, scopes=_WRITE, grant=Write("compute"), events=("compute_config_delete",))
async def delete_config(call: Call) -> None:
    """Delete a config.

    Disks and volumes stay. A guest that runs with it goes on running.
    """
    instance, config = await lock_config(call, call.number("computeId"), call.number("configId"))
    await service.delete(call, instance, config)


async def _view(call: Call, config_id: int) -> bytes:
    return await call.record(config_id, CONFIGS, call.account_id, call.number("computeId"))


_INTERFACES = "/compute/instances/{computeId:int}/configs/{configId:int}/interfaces"

_INTERFACE = f"{_INTERFACES}/{{interfaceId:int}}"

_EVENTS = ("compute_config_update",)

ACTIVE = "The Compute runs with this config: shut it down first."


@endpoint("GET", _INTERFACES, scopes=_READ, grant=Read("compute"), returns=Array(InterfaceRow))
async def list_interfaces(call: Call) -> str:
    """List the interfaces of a config.

    eth0 first.
    """
    await check_exists(call, call.number("computeId"))
    config = await find_config(call, call.number("computeId"), call.number("configId"))
    return await interface_queries.records(call.db, INTERFACES.record_text, config.id)


@endpoint("GET", _INTERFACE, scopes=_READ, grant=Read("compute"), returns=InterfaceRow)
async def view_interface(call: Call) -> bytes:
    """View an interface.

    One network interface of a config.
    """
    return await _view_interface(call, call.number("interfaceId"))


@endpoint(
    "POST",
    _INTERFACES,
    scopes=_WRITE,
    grant=Write("compute"),
    body=AddInterface,
    of=list_interfaces,
    returns=InterfaceRow,
    events=_EVENTS,
)
async def add_interface(call: Call, body: AddInterface) -> bytes:
    """Add an interface to a config, after those that it has.

    Three at most. A guest that runs finds it at its next boot.
    """
    instance, config = await lock_config(call, call.number("computeId"), call.number("configId"))
    service.check_vlans(call, instance, (body,), "purpose")
    others = await interface_queries.of_config(call.db, config.id)
    problem = adding_problem(others, body)
    if problem is not None:
        raise invalid_fields([problem])
    await _changed(call, instance, config)
    place = await place_one(call, instance, wanted_place(body), None)
    interface_id = await interface_queries.add(call.db, config.id, body, place)
    await limits.check_vlans(call, instance.region, (body,), "label")
    return await _view_interface(call, interface_id)


@endpoint(
    "PUT",
    _INTERFACE,
    scopes=_WRITE,
    grant=Write("compute"),
    body=UpdateInterface,
    of=view_interface,
    returns=InterfaceRow,
    events=_EVENTS,
)
async def update_interface(call: Call, body: UpdateInterface) -> bytes:
    """Update an interface.

    A guest that runs finds the changes at its next boot.
    """
    instance, config, interface = await _lock_interface(call)
    others = await interface_queries.of_config(call.db, config.id)
    problem = updating_problem(others, interface, body)
    if problem is not None:
        raise invalid_fields([problem])
    await service.update_interface(call, instance, interface, body)
    await _changed(call, instance, config)
    return await _view_interface(call, interface.id)


@endpoint("DELETE", _INTERFACE, scopes=_WRITE, grant=Write("compute"), events=_EVENTS)
async def delete_interface(call: Call) -> None:
    """Delete an interface.

    Those after it move up: eth2 becomes eth1. A guest that runs keeps it until its next boot.
    """
    instance, config, interface = await _lock_interface(call)
    if config.active:
        raise invalid(ACTIVE)
    await interface_queries.delete(call.db, interface.id)
    await _changed(call, instance, config)


@endpoint(
    "POST",
    f"{_INTERFACES}/order",
    scopes=_WRITE,
    grant=Write("compute"),
    body=OrderInterfaces,
    of=list_interfaces,
    events=_EVENTS,
)
async def order_interfaces(call: Call, body: OrderInterfaces) -> None:
    """Order the interfaces of a config.

    `ids` must name each of them once. A guest that runs finds the new order at its next boot.
    """
    instance, config = await lock_config(call, call.number("computeId"), call.number("configId"))
    held = await interface_queries.of_config(call.db, config.id)
    if sorted(body.ids) != sorted(interface.id for interface in held):
        raise invalid("Must name each interface of the config once", "ids")
    if config.active:
        raise invalid(ACTIVE)
    await interface_queries.reorder(call.db, body.ids)
    await _changed(call, instance, config)


async def _lock_interface(call: Call) -> tuple[InstanceFacts, ConfigFacts, InterfaceFacts]:
    """All three; 404 for what is not there, 400 while a job replaces the configs."""
    instance, config = (
        await lock(call, call.number("computeId")),
        await find_config(call, call.number("computeId"), call.number("configId")),
    )
    for interface in await interface_queries.of_config(call.db, config.id):
        if interface.id == call.number("interfaceId"):
            check_open(instance)
            return instance, config, interface
    raise not_found()


async def _changed(call: Call, instance: InstanceFacts, config: ConfigFacts) -> None:
    await configs.touch(call.db, config.id, call.clock.seconds())
    name = ConfigName(config.id, config.label)
    await service.notify(call, "compute_config_update", instance, name)


async def _view_interface(call: Call, interface_id: int) -> bytes:
    config_id = call.number("configId")
    return await call.record(
        interface_id, INTERFACES, call.account_id, call.number("computeId"), config_id
    )
