"""Operations that change what an instance has or is bound to, and how each is called.

They are found by code, by what their paths and bodies name: a new one is among them at once.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from pydantic import BaseModel

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.core.references import OfKind
from roost.resources.compute.entity import COMPUTE
from roost.resources.firewalls.bodies import AddDevice
from roost.web.checks import Refers
from roost.web.registry import Endpoint, Registry
from tests.api.conftest import Account
from tests.api.doors import example
from tests.api.samples.paths import fill, make_sample
from tests.support.client import Client, Json
from tests.support.disks import quiet
from tests.support.firewalls import FIREWALLS, firewall_body, guarded
from tests.support.instances import INSTANCES, PASSWORD, made
from tests.support.nodebalancers import BALANCERS, balancer, private
from tests.support.transfers import TRANSFERS
from tests.support.volumes import made_volume
from tests.support.vpcs import inside, made_vpc

_NAMES = {"compute", "computes", "compute_id", "disk_id", "address"}
_PARAMETERS = ("{computeId:int}", "{address}", "{range}")


def found() -> Iterator[Endpoint]:
    """Those that write, and whose path or body names an instance, a disk or an address of one."""
    for endpoint in Registry(GROUPS.endpoints):
        in_path = any(each in endpoint.path for each in _PARAMETERS)
        if endpoint.writes and (in_path or _names(endpoint.body, frozenset())):
            yield endpoint


def _names(hint: object, seen: frozenset[object]) -> bool:
    """Whether a body of that type has a field that names one, at any depth."""
    if isinstance(hint, type) and issubclass(hint, AddDevice):
        return True  # Its id is of what its type says.
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint not in seen and any(
            name in _NAMES
            or any(map(_refers, field.metadata))
            or _names(field.annotation, seen | {hint})
            for name, field in hint.model_fields.items()
        )
    marks = getattr(hint, "__metadata__", ())
    return any(map(_refers, marks)) or any(_names(each, seen) for each in get_args(hint))


def _refers(mark: object) -> bool:
    named = mark.reference if isinstance(mark, Refers) else None
    return isinstance(named, OfKind) and named.kind is COMPUTE


ALOOF: Mapping[str, str] = {
    "explain_packet": "reads only",
    "open_console": "who redeems the ticket must own the instance then",
    "open_ticket": "keeps what the thing was called when it was opened",
}
"""Those that bind nothing, and why."""


TIED = ("delete_ipv6_range",)
"""Those of what an instance cannot go with at all."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call that is ready to be sent."""

    compute_id: int
    """The instance that it is about."""
    method: str
    path: str
    body: Json


@dataclass(frozen=True, slots=True)
class Scene:
    """What a call is fitted to."""

    client: Client
    roost: Roost
    account: Account
    compute_id: int
    path: str
    """Of the instance."""


Fit = Callable[[Scene], Awaitable[tuple[str, Json]]]
"""The path and the body of a call."""


async def attempt(endpoint: Endpoint, client: Client, roost: Roost, account: Account) -> Attempt:
    """A call that succeeds, unless something else comes first; nothing works on the instance."""
    own = FITS.get(endpoint.name)
    if own is None:
        values = await make_sample(endpoint, client, roost, account)
        body = None if endpoint.body is None else {**example(endpoint.body)}
        path, compute_id = fill(endpoint, values), int(values[0])
        await quiet(client, f"{INSTANCES}/{compute_id}")
        return Attempt(compute_id, endpoint.method, path, body)
    compute_id = int((await made(client, tags=["blue"]))["id"])
    scene = Scene(client, roost, account, compute_id, f"{INSTANCES}/{compute_id}")
    path, body = await own(scene)
    await quiet(client, scene.path)
    return Attempt(compute_id, endpoint.method, path, body)


def _on(path: str, **body: object) -> Fit:
    """A call whose body may be made beforehand; `compute_id` stands for the instance's."""

    async def fit(scene: Scene) -> tuple[str, Json]:
        return path.format(instance=scene.path), {
            name: _put(value, scene.compute_id) for name, value in body.items()
        }

    return fit


_SELF = object()


def _put(value: object, compute_id: int) -> object:
    """The value with the instance's id in the place of _SELF."""
    if isinstance(value, list):
        return [_put(each, compute_id) for each in value]
    if isinstance(value, dict):
        return {name: _put(each, compute_id) for name, each in value.items()}
    return compute_id if value is _SELF else value


async def _first(scene: Scene, part: str) -> int:
    """The id of the instance's first disk or config."""
    return int((await scene.client.get(f"{scene.path}/{part}"))["data"][0]["id"])


async def _more(scene: Scene) -> str:
    """A second public address of the instance."""
    row = await scene.client.post(f"{scene.path}/ips", {"type": "ipv4", "public": True})
    return str(row["address"])


async def _device(scene: Scene) -> tuple[str, Json]:
    firewall = await guarded(scene.client)
    return f"{FIREWALLS}/{firewall['id']}/devices", {"id": scene.compute_id, "type": "compute"}


async def _attach(scene: Scene) -> tuple[str, Json]:
    volume = await made_volume(scene.client)
    return f"/volumes/{volume['id']}/attach", {"compute_id": scene.compute_id}


async def _volume_slot(scene: Scene) -> tuple[str, Json]:
    volume = await made_volume(scene.client)
    return f"{scene.path}/configs", {
        "label": "with-volume",
        "devices": {"sda": {"volume_id": volume["id"]}},
    }


async def _vpc_config(scene: Scene) -> tuple[str, Json]:
    vpc, config = await made_vpc(scene.client), await _first(scene, "configs")
    return f"{scene.path}/configs/{config}", {"interfaces": [inside(vpc)]}


async def _vpc_interface(scene: Scene) -> tuple[str, Json]:
    vpc, config = await made_vpc(scene.client), await _first(scene, "configs")
    return f"{scene.path}/configs/{config}/interfaces", inside(vpc)


async def _order(scene: Scene) -> tuple[str, Json]:
    path = f"{scene.path}/configs/{await _first(scene, 'configs')}/interfaces"
    row = await scene.client.post(path, {"purpose": "public"})
    return f"{path}/order", {"ids": [row["id"]]}


async def _assign(scene: Scene) -> tuple[str, Json]:
    address, other = await _more(scene), await made(scene.client)
    row = {"address": address, "compute_id": other["id"]}
    return "/networking/ips/assign", {"region": "us-lake", "assignments": [row]}


async def _share(scene: Scene) -> tuple[str, Json]:
    other = await made(scene.client)
    body = {"compute_id": scene.compute_id, "ips": other["ipv4"]}
    return "/networking/ips/share", body


async def _delete_address(scene: Scene) -> tuple[str, Json]:
    return f"{scene.path}/ips/{await _more(scene)}", None


async def _name_address(scene: Scene) -> tuple[str, Json]:
    return f"/networking/ips/{await _more(scene)}", {"rdns": None}


async def _name_own(scene: Scene) -> tuple[str, Json]:
    return f"{scene.path}/ips/{await _more(scene)}", {"rdns": None}


async def _delete_range(scene: Scene) -> tuple[str, Json]:
    body = {"prefix_length": 64, "compute_id": scene.compute_id}
    row = await scene.client.post("/networking/ipv6/ranges", body)
    return f"/networking/ipv6/ranges/{str(row['range']).partition('/')[0]}", None


async def _image(scene: Scene) -> tuple[str, Json]:
    return "/images", {"disk_id": await _first(scene, "disks"), "label": "kept"}


async def _grants(scene: Scene) -> tuple[str, Json]:
    name = f"r-{scene.compute_id}"
    body = {"username": name, "email": f"{name}@example.com", "restricted": True}
    await scene.client.post("/account/users", body)
    grant = {"id": scene.compute_id, "permissions": "read_only"}
    return f"/account/users/{name}/grants", {"compute": [grant]}


async def _rescue(scene: Scene) -> tuple[str, Json]:
    return f"{scene.path}/rescue", {"devices": {"sda": {"disk_id": await _first(scene, "disks")}}}


async def _restore(scene: Scene) -> tuple[str, Json]:
    backups = f"{scene.path}/backups"
    await scene.client.post(f"{backups}/enable")
    row = await scene.client.post(backups, {"label": "snap"})
    await quiet(scene.client, scene.path)
    return f"{backups}/{row['id']}/restore", {"compute_id": scene.compute_id}


async def _snapshot(scene: Scene) -> tuple[str, Json]:
    await scene.client.post(f"{scene.path}/backups/enable")
    return f"{scene.path}/backups", {"label": "snap"}


async def _private(scene: Scene) -> Json:
    """The instance as a node."""
    body = {"type": "ipv4", "public": False}
    row = await scene.client.post(f"{scene.path}/ips", body)
    return {"label": "web-1", "address": f"{row['address']}:80"}


async def _balanced(scene: Scene) -> str:
    """A config of a NodeBalancer."""
    found = await balancer(scene.client, configs=[{}])
    path = f"{BALANCERS}/{found['id']}/configs"
    return f"{path}/{(await scene.client.get(path))['data'][0]['id']}"


async def _new_balancer(scene: Scene) -> tuple[str, Json]:
    return BALANCERS, {"region": "us-lake", "configs": [{"nodes": [await _private(scene)]}]}


async def _rebuilt(scene: Scene) -> tuple[str, Json]:
    return f"{await _balanced(scene)}/rebuild", {"nodes": [await _private(scene)]}


async def _new_node(scene: Scene) -> tuple[str, Json]:
    return f"{await _balanced(scene)}/nodes", await _private(scene)


async def _moved_node(scene: Scene) -> tuple[str, Json]:
    """It was another instance's."""
    _, address = await private(scene.client)
    path = f"{await _balanced(scene)}/nodes"
    node = await scene.client.post(path, {"label": "web-0", "address": f"{address}:80"})
    return f"{path}/{node['id']}", await _private(scene)


_NEW_DISK = {"label": "more", "size": 100, "filesystem": "ext4"}
_ADDRESS = {"type": "ipv4", "public": True}
_DROP = {"rules": firewall_body()["rules"]}

FITS: Mapping[str, Fit] = {
    "attach_volume": _attach,
    "create_volume": _on("/volumes", label="bound", size=20, compute_id=_SELF),
    "create_firewall": _on(FIREWALLS, label="bound", devices={"computes": [_SELF]}, **_DROP),
    "create_firewall_device": _device,
    "create_nodebalancer": _new_balancer,
    "rebuild_nodebalancer_config": _rebuilt,
    "create_nodebalancer_node": _new_node,
    "update_nodebalancer_node": _moved_node,
    "create_config": _volume_slot,
    "update_config": _vpc_config,
    "add_interface": _vpc_interface,
    "order_interfaces": _order,
    "create_disk": _on("{instance}/disks", **_NEW_DISK),
    "rebuild_instance": _on("{instance}/rebuild", image="roost/debian12", root_pass=PASSWORD),
    "rescue_instance": _rescue,
    "take_snapshot": _snapshot,
    "restore_backup": _restore,
    "create_image": _image,
    "allocate_address": _on("/networking/ips", compute_id=_SELF, **_ADDRESS),
    "assign_addresses": _assign,
    "assign_ipv4": _assign,
    "share_addresses": _share,
    "share_ipv4": _share,
    "delete_address_of_instance": _delete_address,
    "update_address": _name_address,
    "update_address_of_instance": _name_own,
    "create_ipv6_range": _on("/networking/ipv6/ranges", prefix_length=64, compute_id=_SELF),
    "delete_ipv6_range": _delete_range,
    "create_tag": _on("/tags", label="bound", computes=[_SELF]),
    "create_entity_transfer": _on(TRANSFERS, entities={"computes": [_SELF]}),
    "create_service_transfer": _on(TRANSFERS, entities={"computes": [_SELF]}),
    "update_user_grants": _grants,
}
