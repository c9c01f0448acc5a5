"""A value for every parameter that a path may have, so that any endpoint can be called.

A new parameter needs one entry in SAMPLES: tests over all endpoints fail until it has one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from roost.app.roost import Roost
from roost.web.registry import Endpoint
from roost.web.routing import path_params
from tests.api.conftest import Account
from tests.support.client import Client
from tests.support.instances import made

Value = int | str
Maker = Callable[[Client, Roost, Account], Awaitable[Value]]


@dataclass(frozen=True, slots=True)
class Sample:
    """`make` gives the id of something in the account, or that all accounts share."""

    make: Maker
    missing: Value
    """The id of something that does not exist."""
    shared: bool = False


async def _instance(client: Client, roost: Roost, account: Account) -> Value:
    return int((await made(client))["id"])


async def _event(client: Client, roost: Roost, account: Account) -> Value:
    await made(client)
    return int((await client.get("/account/events"))["data"][0]["id"])


async def _image(client: Client, roost: Roost, account: Account) -> Value:
    image_id = f"private/{account.id}"
    await roost.store.execute(
        "insert into image (id, account_id, label, created, updated, created_by, size, type,"
        " status) values ($1, $2, 'mine', now(), now(), 'me', 0, 'manual', 'available')"
        " on conflict do nothing",
        image_id,
        account.id,
    )
    return image_id


def _shared(value: Value, missing: Value) -> Sample:
    async def give(client: Client, roost: Roost, account: Account) -> Value:
        return value

    return Sample(give, missing, shared=True)


SAMPLES = {
    "computeId": Sample(_instance, 999_999_999),
    "eventId": Sample(_event, 999_999_999),
    "imageId": Sample(_image, "private/999999999"),
    "kernelId": _shared("roost/grub2", "roost/none"),
    "regionId": _shared("us-lake", "nowhere"),
    "typeId": _shared("g1-nano-1", "none"),
}


def lacking(endpoint: Endpoint) -> list[str]:
    """The parameters of an endpoint that have no sample."""
    return [name for name in path_params(endpoint.path) if name not in SAMPLES]


async def sample_path(endpoint: Endpoint, client: Client, roost: Roost, account: Account) -> str:
    """The endpoint's path to things that exist."""
    values = {
        name: await SAMPLES[name].make(client, roost, account)
        for name in path_params(endpoint.path)
    }
    return fill(endpoint, values)


def missing_path(endpoint: Endpoint) -> str:
    """The endpoint's path to things that do not exist."""
    return fill(endpoint, {name: SAMPLES[name].missing for name in path_params(endpoint.path)})


def fill(endpoint: Endpoint, values: dict[str, Value]) -> str:
    path = endpoint.path
    for name, kind in path_params(endpoint.path).items():
        suffix = "" if kind == "str" else f":{kind}"
        path = path.replace(f"{{{name}{suffix}}}", str(values[name]))
    return path
