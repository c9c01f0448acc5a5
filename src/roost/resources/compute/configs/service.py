"""Changes of configs: their rules, rows and events; and which config is meant."""

from collections.abc import Sequence
from dataclasses import replace

from roost.core.access import require
from roost.core.account_queries import network_helper
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.instance_queries import InstanceFacts
from roost.errors import ApiError, Problem, invalid, invalid_fields, not_found
from roost.resources.compute import limits
from roost.resources.compute.configs import device_queries, interface_queries, queries, rules
from roost.resources.compute.configs.bodies import (
    CreateConfig,
    Devices,
    UpdateConfig,
    UpdateInterface,
)
from roost.resources.compute.configs.interface_queries import InterfaceFacts
from roost.resources.compute.configs.interface_rules import place_all, wanted_place
from roost.resources.compute.configs.queries import ConfigFacts, ConfigName, config_entity
from roost.resources.compute.configs.records import VirtMode
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.interface_bodies import MAX_INTERFACES, ONLY_VPC, Interface, primary_of
from roost.resources.compute.locks import check_open, lock
from roost.resources.compute.neighbours import (
    Host,
    InstanceVolumes,
    InstanceVpcs,
    Place,
    WantedPlace,
)
from roost.store import Queries


async def create(context: Context, instance: InstanceFacts, body: CreateConfig) -> int:
    """The new config's id."""
    check_vlans(context, instance, body.interfaces, "interfaces")
    default = rules.default_helpers(await network_helper(context.db, context.account_id))
    helpers = body.helpers.over(default)
    await _check_devices(context, instance, body.devices)
    now = context.clock.seconds()
    values = {**body.model_dump(), "comments": body.comments or ""}
    config_id = await queries.insert(context.db, instance.id, values, helpers, now)
    await device_queries.set_devices(context.db, config_id, body.devices.taken())
    await _write_interfaces(context, instance, config_id, body.interfaces)
    await notify(context, "compute_config_create", instance, ConfigName(config_id, body.label))
    await limits.check_vlans(context, instance.region, body.interfaces)
    return config_id


async def update(
    context: Context, instance: InstanceFacts, config: ConfigFacts, body: UpdateConfig
) -> None:
    """Interfaces and devices are replaced as a whole; what a guest runs with stays until then."""
    check_vlans(context, instance, body.interfaces or (), "interfaces")
    _check_kernel(context, config, body.kernel)
    await _check_mode(context, config, body)
    helpers = body.helpers.over(config.helpers) if body.helpers else config.helpers
    await queries.update(context.db, config.id, body.model_dump(), helpers, context.clock.seconds())
    if body.devices is not None:
        await _check_devices(context, instance, body.devices)
        await device_queries.set_devices(context.db, config.id, body.devices.taken())
    if body.interfaces is not None:
        await _replace_interfaces(context, instance, config, body.interfaces)
    name = ConfigName(config.id, body.label or config.label)
    await notify(context, "compute_config_update", instance, name)
    await limits.check_vlans(context, instance.region, body.interfaces or ())


async def delete(context: Context, instance: InstanceFacts, config: ConfigFacts) -> None:
    await queries.delete(context.db, config.id)
    name = ConfigName(config.id, config.label)
    await notify(context, "compute_config_delete", instance, name)


async def notify(
    context: Context, action: str, instance: InstanceFacts, config: ConfigName
) -> None:
    entity = COMPUTE.of(instance)
    second = config_entity(instance.id, config)
    await log.notify(context, action, entity, second)


def check_vlans(
    context: Context, instance: InstanceFacts, interfaces: Sequence[Interface], field: str
) -> None:
    """400 for a vlan interface where there are no VLANs."""
    region = context.get(Catalog).find_region(instance.region)
    wants_vlan = any(interface.purpose == "vlan" for interface in interfaces)
    if region is not None and wants_vlan and "Vlans" not in region.capabilities:
        raise invalid("The region does not offer VLANs", field)


async def _check_devices(context: Context, instance: InstanceFacts, devices: Devices) -> None:
    """400 for disks of others; volumes become the instance's.

    Raises 403 without write access to one that the instance does not have yet.
    """
    own = {disk.id for disk in await disks.of_instance(context.db, instance.id)}
    wrong = [
        Problem("disk_id is not valid", f"devices.{at.slot}.disk_id")
        for at in devices.taken()
        if at.disk_id is not None and at.disk_id not in own
    ]
    if wrong:
        raise invalid_fields(wrong)
    volumes = {at.volume_id for at in devices.taken() if at.volume_id is not None}
    if volumes:
        await _claim(context, instance, volumes)


async def _claim(context: Context, instance: InstanceFacts, volume_ids: set[int]) -> None:
    volumes = context.get(InstanceVolumes)
    held = {volume.id for volume in await volumes.attached(context.db, instance.id)}
    for volume_id in sorted(volume_ids - held):
        await require(context, "volume", volume_id, "read_write")
    await volumes.claim(context.db, context.services, instance.id, volume_ids)


def _check_kernel(context: Context, config: ConfigFacts, kernel: str | None) -> None:
    """One that the catalogue no longer has may stay."""
    if kernel in (None, config.kernel, rules.DEFAULT_KERNEL):
        return
    if not context.get(Catalog).has_kernel(str(kernel)):
        raise invalid("kernel is not valid", "kernel")


async def _check_mode(context: Context, config: ConfigFacts, body: UpdateConfig) -> None:
    """400 when devices would be where the mode has none."""
    mode: VirtMode = body.virt_mode or config.virt_mode
    if body.devices is not None:
        taken = [at.slot for at in body.devices.taken()]
    else:
        taken = await device_queries.slots_taken(context.db, config.id)
    for slot in taken:
        if slot not in rules.slots_of(mode):
            field = f"devices.{slot}" if body.devices is not None else "virt_mode"
            raise invalid(rules.NO_SLOT, field)


async def _replace_interfaces(
    context: Context, instance: InstanceFacts, config: ConfigFacts, wanted: Sequence[Interface]
) -> None:
    """Sent back as they are, they keep their ids."""
    held = await interface_queries.of_config(context.db, config.id)
    before = [_wanted_place(each) for each in held]
    after = [wanted_place(each) for each in wanted]
    if _texts(held) != _texts(wanted) or before != after:
        await interface_queries.remove_all(context.db, config.id)
        await _write_interfaces(context, instance, config.id, wanted)


async def _write_interfaces(
    context: Context, instance: InstanceFacts, config_id: int, wanted: Sequence[Interface]
) -> None:
    places = await place_all(context, Host(instance.id, instance.region), wanted)
    await interface_queries.write_all(context.db, config_id, wanted, places)


def _wanted_place(held: InterfaceFacts) -> WantedPlace | None:
    """What would be asked for to have it so."""
    if held.subnet_id is None:
        return None
    return WantedPlace("", held.subnet_id, held.address, held.nat_1_1, tuple(held.ip_ranges))


async def place_one(
    context: Context, instance: InstanceFacts, wanted: WantedPlace | None, without: int | None
) -> Place | None:
    """Where one interface is to be; `without` is the same one as it was."""
    if wanted is None:
        return None
    host = Host(instance.id, instance.region)
    (place,) = await context.get(InstanceVpcs).place(context, host, [wanted], without)
    return place


async def update_interface(
    context: Context, instance: InstanceFacts, held: InterfaceFacts, body: UpdateInterface
) -> None:
    """What is omitted stays as it is."""
    if body.primary is not None:
        await interface_queries.set_primary(context.db, held.id, body.primary)
    before = _wanted_place(held)
    if before is None:
        return
    given, ranges = body.ipv4, body.ip_ranges
    after = replace(before, ip_ranges=before.ip_ranges if ranges is None else tuple(ranges))
    if given is not None and given.vpc:
        after = replace(after, address=given.vpc)
    if given is not None and "nat_1_1" in given.model_fields_set:
        after = replace(after, nat_1_1=given.nat_1_1 or None)
    if after != before:
        place = await place_one(context, instance, after, held.id)
        assert place is not None
        await interface_queries.move(context.db, held.id, place)


def _texts(
    interfaces: Sequence[Interface | InterfaceFacts],
) -> list[tuple[str, str | None, str | None, bool]]:
    """What records show of them but their places in VPCs."""
    primary = primary_of(interfaces)
    return [
        (each.purpose, each.label, each.ipam_address, number == primary)
        for number, each in enumerate(interfaces)
    ]


async def choose_config(db: Queries, facts: InstanceFacts, config_id: int | None) -> ConfigName:
    """The config of this id, else the only one, else the last booted.

    ApiError 400 when it is no config of the instance, or none can be selected (reference: boot,
    reboot; spec A volumes create config).
    """
    found = await queries.names(db, facts.id)
    if config_id is not None:
        return _named(found, config_id)
    chosen = _default(found, facts.config_id)
    if chosen is None:
        raise _undecided(found)
    return chosen


async def find_default_config(db: Queries, facts: InstanceFacts) -> ConfigName | None:
    """The only config, else the last booted."""
    return _default(await queries.names(db, facts.id), facts.config_id)


def _default(configs: Sequence[ConfigName], last_booted: int | None) -> ConfigName | None:
    """The only config, else the last booted."""
    if len(configs) == 1:
        return configs[0]
    return next((config for config in configs if config.id == last_booted), None)


def _named(configs: Sequence[ConfigName], config_id: int) -> ConfigName:
    for config in configs:
        if config.id == config_id:
            return config
    raise invalid("config_id is not valid", "config_id")


def _undecided(configs: Sequence[ConfigName]) -> ApiError:
    if not configs:
        return invalid("Compute has no configuration.", "config_id")
    return invalid("config_id is required, as none of them was booted last", "config_id")


async def find_config(context: Context, compute_id: int, config_id: int) -> ConfigFacts:
    """404 unless the instance has it."""
    config = await queries.find(context.db, compute_id, config_id)
    if config is None:
        raise not_found()
    return config


async def lock_config(
    context: Context, compute_id: int, config_id: int
) -> tuple[InstanceFacts, ConfigFacts]:
    """Both; 404, or 400 while a job replaces the configs."""
    instance = await lock(context, compute_id)
    config = await find_config(context, compute_id, config_id)
    check_open(instance)
    return instance, config


ONE_PRIMARY = "At most one interface may be primary"


def adding_problem(others: Sequence[InterfaceFacts], new: Interface) -> Problem | None:
    """Why an interface cannot be added to those that a config has."""
    if len(others) >= MAX_INTERFACES:
        return Problem(f"A config has at most {MAX_INTERFACES} interfaces")
    if new.purpose == "public" and any(other.purpose == "public" for other in others):
        return Problem("At most one interface may be public", "purpose")
    if new.purpose == "vlan" and any(other.label == new.label for other in others):
        return Problem("The labels of vlan interfaces must differ", "label")
    if new.primary and any(other.primary for other in others):
        return Problem(ONE_PRIMARY, "primary")
    return None


def updating_problem(
    held: Sequence[InterfaceFacts], interface: InterfaceFacts, body: UpdateInterface
) -> Problem | None:
    """Why an interface cannot be changed so (reference: interface update)."""
    if interface.purpose == "vlan":
        return Problem("A vlan interface cannot be updated")
    if body.primary and any(other.primary for other in held if other.id != interface.id):
        return Problem(ONE_PRIMARY, "primary")
    if interface.purpose == "vpc" and interface.subnet_id is None:
        return Problem("The interface is in no subnet: delete it, and add another one")
    if body.ipv4 and interface.purpose != "vpc":
        return Problem(ONLY_VPC, "ipv4")
    if body.ip_ranges and interface.purpose != "vpc":
        return Problem(ONLY_VPC, "ip_ranges")
    return None
