"""Making an instance: its rows, its addresses, and the job that makes its disks."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from roost.core.access import give_to_creator
from roost.core.account_queries import network_helper
from roost.core.addresses.service import PoolExhaustedError, allocate
from roost.core.billing.ledger import begin
from roost.core.catalog import Catalog
from roost.core.context import Context
from roost.core.events import log
from roost.core.limits.capacity import choose_host
from roost.core.limits.host import Promised
from roost.core.planes import Engines
from roost.errors import invalid
from roost.ids import new_uuid
from roost.resources.compute import profile_queries, queries, rules
from roost.resources.compute.backups.jobs import CREATE as CREATE_FROM_BACKUP
from roost.resources.compute.backups.service import host_of_backup, place_in_new
from roost.resources.compute.billing_queries import CHARGED, CHARGED_BACKUPS, CHARGED_MANAGED
from roost.resources.compute.bodies import CreateInstance
from roost.resources.compute.configs.interface_rules import interface_rows, place_all
from roost.resources.compute.configs.rules import DEFAULT_KERNEL, default_helpers, profile_label
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.disks.rules import image_label
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.interface_bodies import Interface
from roost.resources.compute.jobs import CREATE
from roost.resources.compute.limits import check_new, check_vlans
from roost.resources.compute.locks import CreateArgs
from roost.resources.compute.neighbours import Host, InstanceFirewalls, Place
from roost.resources.compute.profile_queries import Profile
from roost.resources.compute.records import Alerts
from roost.resources.compute.references import find_image, image_entity, set_up_note
from roost.resources.compute.script_service import deploy
from roost.resources.ssh_keys.bodies import stored_keys
from roost.resources.tags.service import use_tags
from roost.secrets import Box

LABEL_TAKEN = "Label must be unique among your computes"
"""Bytes, the last."""


async def create(context: Context, body: CreateInstance) -> str:
    """The new instance's record (spec B compute 1, B compute 2, B compute 5)."""
    await use_tags(context, body.tags)
    keys = await stored_keys(context, body.authorized_keys, body.authorized_users)
    kept = None if body.backup_id is None else await host_of_backup(context, body.backup_id)
    new, record = await place(context, _properties(body), kept)
    compute_id = new["id"]
    if body.image is not None:
        script = await deploy(context, compute_id, body)
        setup = SealedSetup(root_pass=body.root_pass, authorized_keys=keys, script=script)
        host = Host(compute_id, body.region, new=True)
        places = await place_all(context, host, body.interfaces)
        wanted = Wanted(body.image, new["disk"], body.swap_size, setup, body.interfaces, places)
        await give_profile(context, compute_id, wanted)
        await check_vlans(context, body.region, body.interfaces)
    booted = body.booted is not False and (body.image or body.backup_id) is not None
    args = CreateArgs(compute_id=compute_id, username=context.identity.username, booted=booted)
    entity, image = COMPUTE.entity(compute_id, new["label"]), None
    if body.image is not None:
        image = image_entity(body.image, body.image)
    if body.backup_id is None:
        note = await set_up_note(context, body.image)
        await log.start(context, CREATE, args, entity, image, message=note)
    else:
        restored = await place_in_new(context, body.backup_id, new, args)
        await log.start(context, CREATE_FROM_BACKUP, restored, entity, image)
    await check_new(context, new, stays=body.backup_id is not None)
    if body.firewall_id is not None:
        firewalls = context.get(InstanceFirewalls)
        await firewalls.put_behind(context, compute_id, new["label"], body.firewall_id)
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """What a new instance is to be, whoever asks for it."""

    type: str
    region: str
    image: str | None
    label: str | None
    tags: list[str]
    group: str
    backups_enabled: bool
    private_ip: bool
    user_data: str | None
    """As it is asked for, in base64."""


def _properties(body: CreateInstance) -> Properties:
    return Properties(
        type=body.type,
        region=body.region,
        image=body.image,
        label=body.label,
        tags=body.tags,
        group=body.group,
        backups_enabled=body.backups_enabled,
        private_ip=body.private_ip,
        user_data=body.metadata.user_data if body.metadata else None,
    )


async def place(
    context: Context, wanted: Properties, host: str | None
) -> tuple[queries.NewInstance, str]:
    """The row of a new instance, which is its creator's and has its addresses; and its record.

    It is made on `host`; on the one with the most room when that is None.
    """
    if host is None:
        plan = context.get(Catalog).type(wanted.type)
        needs = Promised(plan.memory, plan.disk, plan.vcpus)
        host = await choose_host(context, wanted.region, needs, "region")
    compute_id = await queries.next_id(context.db)
    new = _row(context, wanted, compute_id, host, await _allocate(context, wanted, compute_id))
    record = await _insert(context, wanted.label, new)
    await begin(context.db, CHARGED, compute_id, new["now"])
    if wanted.backups_enabled:
        await begin(context.db, CHARGED_BACKUPS, compute_id, new["now"])
    await begin(context.db, CHARGED_MANAGED, compute_id, new["now"])
    await give_to_creator(context, COMPUTE.name, compute_id)
    return new, record


async def _insert(context: Context, label: str | None, new: queries.NewInstance) -> str:
    record = await queries.insert(context.db, new)
    if record is None and label is None:
        # Somebody gave another instance the very name that this one would get by default.
        new["label"] = rules.default_label(new["id"], new["host_uuid"])
        record = await queries.insert(context.db, new)
    if record is None:
        raise invalid(LABEL_TAKEN, "label")
    return record


def _row(
    context: Context, wanted: Properties, compute_id: int, host: str, ipv4: list[str]
) -> queries.NewInstance:
    catalog = context.get(Catalog)
    plan = catalog.type(wanted.type)
    network = catalog.ipv6_network(wanted.region)
    mac = rules.mac_address(compute_id)
    user_data = wanted.user_data
    return {
        "id": compute_id,
        "account_id": context.account_id,
        "label": wanted.label or rules.default_label(compute_id),
        "group": wanted.group,
        "tags": wanted.tags,
        "region": wanted.region,
        "image": wanted.image,
        "type": wanted.type,
        "status": "provisioning",
        "now": context.clock.seconds(),
        "ipv4": ipv4,
        "ipv6": f"{rules.slaac_address(network, mac)}/128",
        "disk": plan.disk,
        "memory": plan.memory,
        "vcpus": plan.vcpus,
        "gpus": plan.gpus,
        "transfer": plan.transfer,
        "alerts": default_alerts(plan.vcpus),
        "host_uuid": new_uuid(),
        "backups_enabled": wanted.backups_enabled,
        "engine": context.get(Engines).of(INSTANCE_PLANE, wanted.region).name,
        "host": host,
        "user_data": context.get(Box).seal(user_data.encode()) if user_data else None,
    }


def default_alerts(vcpus: int) -> Alerts:
    """`cpu` is 90 for each core (spec B compute alerts cpu)."""
    return {
        "cpu": 90 * vcpus,
        "io": 10000,
        "network_in": 10,
        "network_out": 10,
        "transfer_quota": 80,
    }


async def _allocate(context: Context, new: Properties, compute_id: int) -> list[str]:
    """A public address and, if wanted, a private one."""
    wanted = (True, False) if new.private_ip else (True,)
    addresses = []
    for public in wanted:
        try:
            held = await allocate(context.db, new.region, public, context.account_id, compute_id)
        except PoolExhaustedError:
            raise invalid("The region has no free IPv4 address", "region") from None
        addresses.append(str(held.interface.ip))
    return addresses


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller decides; sizes in MB, `disk` is what the plan has for all disks."""

    image: str
    disk: int
    swap_size: int
    setup: SealedSetup
    interfaces: Sequence[Interface]
    places: Sequence[Place | None]
    """Where each of the interfaces is in a VPC."""


async def give_profile(context: Context, compute_id: int, wanted: Wanted) -> int:
    """Main disk, swap and a config with both (spec B compute 2); the config's id."""
    image = await find_image(context, wanted.image)
    label = image_label(wanted.image if image is None else image.label)
    helpers = default_helpers(await network_helper(context.db, context.account_id))
    profile = Profile(
        compute_id=compute_id,
        now=context.clock.seconds(),
        image=wanted.image,
        disk_label=label,
        disk_size=wanted.disk - wanted.swap_size,
        setup=wanted.setup.seal(context.get(Box)),
        swap_label=f"{wanted.swap_size} MB Swap Image",
        swap_size=wanted.swap_size,
        config_label=profile_label(label),
        kernel=DEFAULT_KERNEL,
        helpers=orjson.dumps(helpers).decode(),
        interfaces=interface_rows(wanted.interfaces, wanted.places),
    )
    return await profile_queries.insert(context.db, profile)
