"""Steps of jobs on compute instances, and the guest that they start."""

import base64
from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Interface

from roost.core import account_queries as accounts
from roost.core import instance_queries
from roost.core.addresses import range_queries
from roost.core.addresses.service import held_by
from roost.core.addresses.share_queries import shared_with
from roost.core.catalog import Catalog
from roost.core.instance_queries import InstanceFacts
from roost.core.neighbours import Neighbours
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, again, next_step, writing
from roost.resources.compute import rules
from roost.resources.compute.configs import device_queries
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.queries import BootConfig, SlotFacts
from roost.resources.compute.configs.rules import DEFAULT_ROOT
from roost.resources.compute.configs.service import find_default_config
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.jobs import IMAGE_POLL, awaits_image, make_disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.disks.records import SealedSetup
from roost.resources.compute.engine import (
    SLOTS,
    DiskDevice,
    GuestSetup,
    InstanceSpec,
    NoDisksError,
    Slot,
    VolumeDevice,
)
from roost.resources.compute.link_rules import WITHOUT_INTERFACES, links_of, public_address
from roost.resources.compute.locks import CreateArgs, InstanceArgs, engine_of, facts_of
from roost.resources.compute.neighbours import AttachedVolume, InstanceVolumes, InstanceVpcs
from roost.resources.compute.network_engine import GuestAddress, VpcLink
from roost.secrets import Box
from roost.services import Services
from roost.store import Queries

_IPV6_PREFIX = 64

Device = DiskDevice | VolumeDevice


async def specify(
    db: Queries, services: Services, facts: InstanceFacts, config: BootConfig
) -> InstanceSpec:
    """The guest of an instance that boots with this config."""
    attached = await services.get(InstanceVolumes).bootable(db, services, facts.id)
    slotted = await device_queries.volumes_with_slot(db, facts.id) if attached else set()
    root = _slot(config.root_device)
    root_id = next((each.disk_id for each in config.slots if each.slot == root), None)
    disk = None if root_id is None else await disks.find(db, facts.id, root_id)
    interfaces = config.interfaces or WITHOUT_INTERFACES
    public = any(each.purpose == "public" for each in interfaces)
    everything = await held_by(db, facts.id)
    vpcs = {each.vpc_id for each in interfaces if each.vpc_id is not None}
    subnets = await services.get(InstanceVpcs).routes(db, vpcs) if vpcs else {}
    links = links_of(
        facts.id, interfaces, {str(a.interface.ip) for a in everything if a.public}, subnets
    )
    natted = {link.public for link in links if isinstance(link, VpcLink)}
    held = [each for each in everything if public and each.interface.ip not in natted]
    shared = (await shared_with(db, [facts.id])).get(facts.id, []) if public else []
    address = (facts.ipv6 or "").partition("/")[0] if public else ""
    ranges = await range_queries.used_by(db, [facts.id] if public else [])
    catalog = services.get(Catalog)
    plan = catalog.find_type(facts.type)
    opened = (await accounts.created(db, [facts.account_id]))[facts.account_id]
    return InstanceSpec(
        id=facts.id,
        vcpus=facts.vcpus,
        memory=rules.limited(facts.memory, config.memory_limit),
        mac=rules.mac_address(facts.id),
        ipv4=tuple(
            public_address(GuestAddress(each.interface, each.gateway), interfaces) for each in held
        ),
        ipv6=IPv6Interface(f"{address}/{_IPV6_PREFIX}") if address else None,
        setup=_setup(services.get(Box), facts, disk),
        devices=devices_of(config, attached, slotted),
        root=root,
        shared=tuple(map(IPv4Address, shared)),
        mail_restricted=catalog.restricts_mail(opened),
        links=links,
        ranges=ranges.own(facts.id),
        shared_ranges=ranges.shared(facts.id),
        network_out=None if plan is None else plan.network_out,
    )


async def specify_rescue(
    db: Queries, services: Services, facts: InstanceFacts, slots: tuple[SlotFacts, ...]
) -> InstanceSpec:
    """The guest that boots the rescue system, with these devices and the volumes beside them.

    Its root password and keys are those of the first disk that has any.
    """
    config = BootConfig(0, memory_limit=0, root_device=DEFAULT_ROOT, interfaces=(), slots=slots)
    spec = await specify(db, services, facts, config)
    attached = await services.get(InstanceVolumes).bootable(db, services, facts.id)
    slotted = {each.volume_id for each in slots if each.volume_id is not None}
    owned = await disks.of_instance(db, facts.id)
    disk = next((disk for disk in owned if disk.setup is not None), None)
    return replace(
        spec,
        setup=_setup(services.get(Box), facts, disk),
        devices=devices_of(config, attached, slotted),
        root=None,
        rescue=True,
    )


def devices_of(
    config: BootConfig, attached: Iterable[AttachedVolume], slotted: set[int]
) -> tuple[Device, ...]:
    """What is at the config's slots, then the volumes that no config of the instance names."""
    volumes = {volume.id: volume for volume in attached}
    devices: list[Device] = []
    for each in config.slots:
        if each.disk_id is not None:
            devices.append(DiskDevice(each.slot, each.disk_id))
        elif each.volume_id in volumes:
            volume = volumes[each.volume_id]
            devices.append(VolumeDevice(each.slot, volume.id, volume.label))
    loose = (volume for volume in volumes.values() if volume.id not in slotted)
    return (*devices, *(VolumeDevice(None, volume.id, volume.label) for volume in loose))


def _slot(root_device: str) -> Slot:
    return next(slot for slot in SLOTS if root_device == f"/dev/{slot}")


def _setup(box: Box, facts: InstanceFacts, disk: DiskFacts | None) -> GuestSetup:
    sealed = None if disk is None else disk.setup
    setup = SealedSetup() if sealed is None else SealedSetup.unseal(box, sealed)
    user_data = box.open(facts.user_data).decode() if facts.user_data else setup.user_data
    return GuestSetup(
        hostname=rules.hostname(facts.label),
        root_password_hash=setup.root_password_hash,
        authorized_keys=tuple(setup.authorized_keys),
        user_data=base64.b64decode(user_data) if user_data else None,
        password_revision=0 if disk is None else disk.password_revision,
        script=setup.script,
    )


GRACE = 60.0
"""Seconds that a guest has to power itself off."""


async def make(run: Run[InstanceArgs]) -> Verdict:
    """Make the disks that are not made yet.

    Only those: what has been made and is gone must not be replaced by something empty.
    """
    setups = await _make(run)
    if setups is None:
        return again(IMAGE_POLL)
    return next_step(writing(disks.set_made, setups, run.clock.now()))


async def make_ready(run: Run[InstanceArgs]) -> Verdict:
    """Make the disks as `make` does, and let go of volumes that were attached for the last boot
    only."""
    setups = await _make(run)
    if setups is None:
        return again(IMAGE_POLL)

    async def write(db: Queries) -> None:
        await go_off(db, run)
        if setups:
            await disks.set_made(db, setups, run.clock.now())

    return next_step(write)


async def _make(run: Run[InstanceArgs]) -> dict[int, bytes | None] | None:
    """Setups by the disks that were made; None when an image is not there yet."""
    facts = await facts_of(run)
    unmade = [disk for disk in await disks.of_instance(run.store, facts.id) if not disk.made]
    if awaits_image(run.tools.services, facts.region, unmade):
        return None
    return await make_disks(run.tools.services, engine_of(run, facts), unmade)


async def go_off(db: Queries, run: Run[InstanceArgs]) -> None:
    """What goes when a guest goes off."""
    await instance_queries.lock_any(db, run.args.compute_id)
    await run.get(Neighbours).went_off(db, run.tools.services, run.args.compute_id)


async def undo_make(run: Run[InstanceArgs]) -> Verdict:
    """Remove what was only half made; disks that were made before stay."""
    facts = await facts_of(run)
    found = await disks.of_instance(run.store, facts.id)
    engine = engine_of(run, facts)
    if not any(disk.made for disk in found):
        await engine.delete(facts.id)
        return next_step()
    for disk in found:
        if not disk.made:
            await engine.disks.delete(facts.id, disk.id)
    return next_step()


async def start(run: Run[InstanceArgs]) -> Verdict:
    """Power the guest on."""
    facts = await facts_of(run)
    return await power_on(run, facts, await specify_boot(run, facts))


async def specify_boot(run: Run[InstanceArgs], facts: InstanceFacts) -> InstanceSpec:
    """The guest with the config that was chosen, or else that of its last boot."""
    config = await _config(run, facts)
    return await specify(run.store, run.tools.services, facts, config)


async def start_again(run: Run[CreateArgs]) -> Verdict:
    """Power a guest on that ran before (`booted`)."""
    return await start(run) if run.args.booted else next_step()


async def power_on(run: Run[InstanceArgs], facts: InstanceFacts, spec: InstanceSpec) -> Verdict:
    """Let a guest run, with all that is to be there before it."""
    await run.get(Neighbours).settle(run.store, run.tools.services, facts.id)
    try:
        await engine_of(run, facts).start(spec)
    except NoDisksError as error:
        raise Fatal(str(error)) from None
    return next_step()


async def _config(run: Run[InstanceArgs], facts: InstanceFacts) -> BootConfig:
    """The one that was chosen; if that is gone by now, the only one that there is."""
    chosen = run.args.config_id or facts.config_id
    config = None if chosen is None else await configs.find_boot(run.store, chosen)
    if config is None:
        name = await find_default_config(run.store, facts)
        config = None if name is None else await configs.find_boot(run.store, name.id)
    if config is None:
        raise Fatal("The instance has no configuration to boot with.")
    return config


async def stop(run: Run[InstanceArgs]) -> Verdict:
    """Ask the guest to power off, and pull the plug after a while."""
    facts = await facts_of(run)
    await engine_of(run, facts).stop(facts.id, GRACE)
    return next_step(writing(go_off, run))


async def cut(run: Run[InstanceArgs]) -> Verdict:
    """Pull the plug."""
    facts = await facts_of(run)
    await engine_of(run, facts).stop(facts.id, 0)
    return next_step()
