"""Making an instance: its row, its addresses, and the job that provisions it."""

import orjson

from roost.errors import invalid
from roost.ids import new_uuid
from roost.jobs.queue import JobQueue
from roost.resources.addresses import allocation
from roost.resources.catalog import Catalog
from roost.resources.compute import queries, rules
from roost.resources.compute.bodies import CreateInstance
from roost.resources.compute.entity import COMPUTE, resource_of
from roost.resources.compute.guest import InstanceEngines, SealedSetup
from roost.resources.compute.jobs import CREATE, CreateArgs
from roost.resources.compute.records import Alerts
from roost.resources.events import log
from roost.resources.images.entity import IMAGE
from roost.resources.ssh_keys.queries import keys_by_user
from roost.resources.tags.labels import check_tags
from roost.secrets import Box
from roost.web.call import Call
from roost.web.grants import give_to_creator

LABEL_TAKEN = "Label must be unique among your computes"
NO_KEYS = "Each must be a user of the account with stored SSH keys"


async def create(call: Call, body: CreateInstance) -> str:
    """The new instance's record; spec B, Compute instances rules 1, 2 and 5."""
    check_tags(call, body.tags)
    keys = body.authorized_keys + await _keys_of(call, body.authorized_users)
    compute_id = await queries.next_id(call.db)
    new = _row(call, body, compute_id, await _allocate(call, body, compute_id), keys)
    record = await _insert(call, body, new)
    await give_to_creator(call, COMPUTE.name, compute_id)
    actor = log.Actor.of(call)
    event_id = await log.schedule(
        call.db,
        call.clock.now(),
        actor,
        CREATE.name,
        COMPUTE.entity(compute_id, new["label"]),
        IMAGE.entity(body.image, body.image) if body.image else None,
    )
    booted = body.image is not None and body.booted is not False
    await call.get(JobQueue).enqueue(
        call.db,
        CREATE,
        CreateArgs(compute_id=compute_id, username=actor.username, booted=booted),
        resource=resource_of(compute_id),
        account_id=actor.account_id,
        event_id=event_id,
    )
    return record


async def _insert(call: Call, body: CreateInstance, new: queries.NewInstance) -> str:
    record = await queries.insert(call.db, new)
    if record is None and body.label is None:
        # Somebody gave another instance the very name that this one would get by default.
        new["label"] = rules.default_label(new["id"], new["host_uuid"])
        record = await queries.insert(call.db, new)
    if record is None:
        raise invalid(LABEL_TAKEN, "label")
    return record


async def _keys_of(call: Call, usernames: list[str]) -> list[str]:
    """The stored keys of the account's users; raises 400 when one of them has none."""
    if not usernames:
        return []
    found = await keys_by_user(call.db, call.account_id, usernames)
    if len(found) < len(set(usernames)):
        raise invalid(NO_KEYS, "authorized_users")
    return [key for name in dict.fromkeys(usernames) for key in found[name]]


def _row(
    call: Call, body: CreateInstance, compute_id: int, ipv4: list[str], keys: list[str]
) -> queries.NewInstance:
    catalog = call.get(Catalog)
    plan = catalog.type(body.type)
    network = catalog.ipv6_network(body.region)
    mac = rules.mac_address(compute_id)
    user_data = body.metadata.user_data if body.metadata else None
    setup = SealedSetup(root_pass=body.root_pass, authorized_keys=keys, user_data=user_data)
    return {
        "id": compute_id,
        "account_id": call.account_id,
        "label": body.label or rules.default_label(compute_id),
        "group": body.group,
        "tags": body.tags,
        "region": body.region,
        "image": body.image,
        "type": body.type,
        "status": "provisioning",
        "now": call.clock.seconds(),
        "ipv4": ipv4,
        "ipv6": f"{rules.slaac_address(network, mac)}/128",
        "disk": plan.disk,
        "memory": plan.memory,
        "vcpus": plan.vcpus,
        "gpus": plan.gpus,
        "transfer": plan.transfer,
        "swap_size": body.swap_size if body.image else 0,
        "alerts": default_alerts(plan.vcpus),
        "interfaces": orjson.dumps([i.model_dump() for i in body.interfaces]).decode(),
        "has_user_data": user_data is not None,
        "host_uuid": new_uuid(),
        "engine": call.get(InstanceEngines).of(body.region).name,
        "setup": setup.seal(call.get(Box)),
    }


def default_alerts(vcpus: int) -> Alerts:
    """Spec B, Compute instance: cpu is 90 for each core."""
    return {
        "cpu": 90 * vcpus,
        "io": 10000,
        "network_in": 10,
        "network_out": 10,
        "transfer_quota": 80,
    }


async def _allocate(call: Call, body: CreateInstance, compute_id: int) -> list[str]:
    """A public address and, if wanted, a private one."""
    wanted = (True, False) if body.private_ip else (True,)
    addresses = []
    for public in wanted:
        try:
            held = await allocation.allocate(
                call.db, body.region, public, call.account_id, compute_id
            )
        except allocation.PoolExhaustedError:
            raise invalid("The region has no free IPv4 address", "region") from None
        addresses.append(str(held.interface.ip))
    return addresses
