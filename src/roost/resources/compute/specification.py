"""From the rows of an instance to the specification that an engine starts a guest from."""

import base64
from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv6Interface

from roost.core.catalog import Catalog
from roost.resources.account import queries as accounts
from roost.resources.addresses import allocation
from roost.resources.compute import rules
from roost.resources.compute.configs import queries as configs
from roost.resources.compute.configs.queries import BootConfig, SlotFacts
from roost.resources.compute.configs.rules import DEFAULT_ROOT
from roost.resources.compute.disks import queries as disks
from roost.resources.compute.disks.queries import DiskFacts
from roost.resources.compute.engine import (
    SLOTS,
    DiskDevice,
    GuestAddress,
    GuestSetup,
    InstanceSpec,
    Slot,
    VolumeDevice,
)
from roost.resources.compute.guest import SealedSetup
from roost.resources.compute.queries import InstanceFacts
from roost.resources.compute.volumes import AttachedVolume, InstanceVolumes
from roost.secrets import Box
from roost.services import Services
from roost.store import Queries

_IPV6_PREFIX = 64

Device = DiskDevice | VolumeDevice


async def specify(
    db: Queries, services: Services, facts: InstanceFacts, config: BootConfig
) -> InstanceSpec:
    """The guest of an instance that boots with this config."""
    attached = await services.get(InstanceVolumes).attached(db, facts.id)
    slotted = await configs.volumes_with_slot(db, facts.id) if attached else set()
    root = _slot(config.root_device)
    root_id = next((each.disk_id for each in config.slots if each.slot == root), None)
    disk = None if root_id is None else await disks.find(db, facts.id, root_id)
    public = not config.purposes or "public" in config.purposes
    held = await allocation.held_by(db, facts.id) if public else []
    address = (facts.ipv6 or "").partition("/")[0] if public else ""
    opened = await accounts.created(db, facts.account_id)
    return InstanceSpec(
        id=facts.id,
        vcpus=facts.vcpus,
        memory=rules.limited(facts.memory, config.memory_limit),
        mac=rules.mac_address(facts.id),
        ipv4=tuple(GuestAddress(a.interface, a.gateway) for a in held),
        ipv6=IPv6Interface(f"{address}/{_IPV6_PREFIX}") if address else None,
        setup=_setup(services.get(Box), facts, disk),
        devices=devices_of(config, attached, slotted),
        root=root,
        mail_restricted=services.get(Catalog).restricts_mail(opened),
    )


async def specify_rescue(
    db: Queries, services: Services, facts: InstanceFacts, slots: tuple[SlotFacts, ...]
) -> InstanceSpec:
    """The guest that boots the rescue system, with these devices and the volumes beside them.

    Its root password and keys are those of the first disk that has any.
    """
    config = BootConfig(0, memory_limit=0, root_device=DEFAULT_ROOT, purposes=(), slots=slots)
    spec = await specify(db, services, facts, config)
    attached = await services.get(InstanceVolumes).attached(db, facts.id)
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
    )
