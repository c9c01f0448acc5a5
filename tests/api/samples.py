"""What it takes to call any endpoint with success.

A new parameter needs an entry in SAMPLES, a list without one that shows its rows needs one in
ROWS, and an endpoint that must be asked something one in QUERIES: tests over all endpoints fail
until they have it.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from roost.app.roost import Roost
from roost.ids import new_uuid
from roost.resources.account.queries import create_account
from roost.resources.devices.service import remember_device
from roost.resources.logins.queries import record_login
from roost.resources.maintenance.service import schedule
from roost.web.registry import Endpoint
from roost.web.routing import path_params
from tests.api.conftest import Account
from tests.support.apps import let_in
from tests.support.client import Client
from tests.support.disks import quiet
from tests.support.families import adopt
from tests.support.firewalls import FIREWALLS, guarded
from tests.support.instances import made
from tests.support.keys import KEY
from tests.support.pictures import picture
from tests.support.stackscripts import scripted
from tests.support.volumes import attached, made_volume

Value = int | str
BETA = """
    insert into beta (id, label, description, started, greenlight_only, more_info)
    values ('sample', 'Sample', '', '2024-01-01', false, '') on conflict do nothing
"""
Maker = Callable[[Client, Roost, Account], Awaitable[Value]]


@dataclass(frozen=True, slots=True)
class Sample:
    """`make` gives the id of something in the account, or that all accounts share."""

    make: Maker
    missing: Value
    """The id of something that does not exist."""
    shared: bool = False


async def _instance(client: Client, roost: Roost, account: Account) -> Value:
    return int((await made(client, tags=["blue"]))["id"])


async def _newest(client: Client, roost: Roost, account: Account) -> str:
    """The path of the instance that a path names before what is part of it."""
    rows = (await client.get("/compute/instances?page_size=500"))["data"]
    compute_id = rows[-1]["id"] if rows else await _instance(client, roost, account)
    return f"/compute/instances/{compute_id}"


async def _disk(client: Client, roost: Roost, account: Account) -> Value:
    path = await _newest(client, roost, account)
    return int((await client.get(f"{path}/disks"))["data"][0]["id"])


async def _config(client: Client, roost: Roost, account: Account) -> Value:
    path = await _newest(client, roost, account)
    return int((await client.get(f"{path}/configs"))["data"][0]["id"])


async def _interface(client: Client, roost: Roost, account: Account) -> Value:
    config_id = await _config(client, roost, account)
    path = f"{await _newest(client, roost, account)}/configs/{config_id}/interfaces"
    return int((await client.post(path, {"purpose": "public"}))["id"])


async def _backup(client: Client, roost: Roost, account: Account) -> Value:
    path = await _newest(client, roost, account)
    await client.post(f"{path}/backups/enable")
    backup = await client.post(f"{path}/backups", {"label": "sample"})
    await quiet(client, path)
    return int(backup["id"])


async def _volume(client: Client, roost: Roost, account: Account) -> Value:
    return int((await made_volume(client, label=f"v{new_uuid()[:8]}", tags=["blue"]))["id"])


async def _attached_volume(client: Client, roost: Roost, account: Account) -> Value:
    volume_id = int(await _volume(client, roost, account))
    compute_id = (await _newest(client, roost, account)).rpartition("/")[2]
    return int((await attached(client, volume_id, int(compute_id)))["id"])


async def _maintenance(client: Client, roost: Roost, account: Account) -> Value:
    compute_id = int((await made(client))["id"])
    async with roost.store.transaction() as db:
        return await schedule(db, compute_id, "reboot", datetime(2126, 12, 1), "a fan is loud")


async def _address(client: Client, roost: Roost, account: Account) -> Value:
    """Whose name was set to what it is by default."""
    address = str((await made(client))["ipv4"][0])
    await client.put(f"/networking/ips/{address}", {"rdns": None})
    return address


async def _domain(client: Client, roost: Roost, account: Account) -> Value:
    """The same for all parameters of a path."""
    name = f"sample-{account.id}.example"
    for row in (await client.get("/domains", filter={"domain": name}))["data"]:
        return int(row["id"])
    body = {"domain": name, "type": "master", "soa_email": "me@example.com", "tags": ["blue"]}
    return int((await client.post("/domains", body))["id"])


async def _record(client: Client, roost: Roost, account: Account) -> Value:
    domain_id = await _domain(client, roost, account)
    body = {"type": "TXT", "target": new_uuid()}
    return int((await client.post(f"/domains/{domain_id}/records", body))["id"])


async def _firewall(client: Client, roost: Roost, account: Account) -> Value:
    """The same for all parameters of a path."""
    rows = (await client.get(FIREWALLS, filter={"label": f"sample-{account.id}"}))["data"]
    if rows:
        return int(rows[0]["id"])
    return int((await guarded(client, label=f"sample-{account.id}", tags=["blue"]))["id"])


async def _firewall_device(client: Client, roost: Roost, account: Account) -> Value:
    firewall_id = await _firewall(client, roost, account)
    body = {"id": await _instance(client, roost, account), "type": "compute"}
    return int((await client.post(f"{FIREWALLS}/{firewall_id}/devices", body))["id"])


async def _firewall_of_instance(client: Client, roost: Roost, account: Account) -> Value:
    compute_id = (await _newest(client, roost, account)).rpartition("/")[2]
    devices = {"computes": [int(compute_id)]}
    return int((await guarded(client, label="before-one", devices=devices))["id"])


async def _event(client: Client, roost: Roost, account: Account) -> Value:
    await made(client)
    return int((await client.get("/account/events"))["data"][0]["id"])


async def _child(client: Client, roost: Roost, account: Account) -> Value:
    """One of an account whose users know already that they are a parent's."""
    child = await create_account(roost.store, new_uuid(), roost.clock.seconds())
    await roost.store.execute(
        """
        update account set first_name = 'Ada', last_name = 'Ray', company = 'Wren', city = 'Rome',
            address_1 = 'Via 1', address_2 = 'Top', state = 'RM', zip = '00100', country = 'IT',
            phone = '+39 1', email = 'ada@example.com'
        where id = $1
        """,
        child,
    )
    return (await adopt(roost, child, account.id)).euuid


async def _beta(client: Client, roost: Roost, account: Account) -> Value:
    """One that the account takes part in."""
    await roost.store.execute(BETA)
    await client.send("POST", "/account/betas", {"id": "sample"})
    return "sample"


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


async def _oauth_client(client: Client, roost: Roost, account: Account) -> Value:
    """One with a thumbnail, which is public."""
    body = {"label": "app", "redirect_uri": "https://app.example.com/done"}
    row = await client.post("/account/oauth-clients", body)
    path = f"/account/oauth-clients/{row['id']}/thumbnail"
    headers = {"Content-Type": "image/png"}
    assert (await client.send("PUT", path, headers=headers, data=picture())).status == 200
    return str(row["id"])


async def _username(client: Client, roost: Roost, account: Account) -> Value:
    """A restricted user beside the account's own."""
    body = {"username": f"{account.username}-2", "email": "second@example.com", "restricted": True}
    await client.post("/account/users", body)
    return str(body["username"])


async def _app(client: Client, roost: Roost, account: Account) -> Value:
    client_id = await _oauth_client(client, roost, account)
    return await let_in(roost, account.user_id, str(client_id))


async def _device(client: Client, roost: Roost, account: Account) -> Value:
    await remember_device(roost.store, account.user_id, "browser", "::1", roost.clock.now())
    return int((await client.get("/profile/devices"))["data"][0]["id"])


async def _login(client: Client, roost: Roost, account: Account) -> Value:
    now = roost.clock.now()
    await record_login(roost.store, account.user_id, "192.0.2.1", "successful", now)
    return int((await client.get("/profile/logins"))["data"][0]["id"])


async def _ssh_key(client: Client, roost: Roost, account: Account) -> Value:
    return int((await client.post("/profile/sshkeys", {"ssh_key": KEY}))["id"])


async def _stackscript(client: Client, roost: Roost, account: Account) -> Value:
    return int((await scripted(client))["id"])


async def _ticket(client: Client, roost: Roost, account: Account) -> Value:
    """One with a reply."""
    body = {"summary": "No connection", "description": "Since this morning."}
    ticket_id = int((await client.post("/support/tickets", body))["id"])
    await client.post(f"/support/tickets/{ticket_id}/replies", {"description": "It is back."})
    return ticket_id


async def _tag(client: Client, roost: Roost, account: Account) -> Value:
    """On an instance."""
    body = {"label": "gold", "computes": [await _instance(client, roost, account)]}
    return str((await client.post("/tags", body))["label"])


async def _token(client: Client, roost: Roost, account: Account) -> Value:
    return int((await client.post("/profile/tokens", {"label": "sample"}))["id"])


def _shared(value: Value, missing: Value) -> Sample:
    async def give(client: Client, roost: Roost, account: Account) -> Value:
        return value

    return Sample(give, missing, shared=True)


SAMPLES = {
    "address": Sample(_address, "192.0.2.254"),
    "appId": Sample(_app, 999_999_999),
    "betaId": Sample(_beta, "none"),
    "backupId": Sample(_backup, 999_999_999),
    "clientId": Sample(_oauth_client, "0" * 20),
    "computeId": Sample(_instance, 999_999_999),
    "configId": Sample(_config, 999_999_999),
    "deviceId": Sample(_device, 999_999_999),
    "diskId": Sample(_disk, 999_999_999),
    "domainId": Sample(_domain, 999_999_999),
    "euuid": Sample(_child, new_uuid()),
    "eventId": Sample(_event, 999_999_999),
    "firewallDeviceId": Sample(_firewall_device, 999_999_999),
    "firewallId": Sample(_firewall, 999_999_999),
    "imageId": Sample(_image, "private/999999999"),
    "interfaceId": Sample(_interface, 999_999_999),
    "kernelId": _shared("roost/grub2", "roost/none"),
    "loginId": Sample(_login, 999_999_999),
    "recordId": Sample(_record, 999_999_999),
    "regionId": _shared("us-lake", "nowhere"),
    "sshKeyId": Sample(_ssh_key, 999_999_999),
    "stackscriptId": Sample(_stackscript, 999_999_999),
    "ticketId": Sample(_ticket, 999_999_999),
    "tagLabel": Sample(_tag, "no-such-tag"),
    "tokenId": Sample(_token, 999_999_999),
    "typeId": _shared("g1-nano-1", "none"),
    "username": Sample(_username, "nobody"),
    "volumeId": Sample(_volume, 999_999_999),
}

ROWS: dict[str, Maker] = {
    "list_firewalls_of_instance": _firewall_of_instance,
    "list_maintenance": _maintenance,
    "list_notifications": _maintenance,
    "list_ticket_replies": SAMPLES["ticketId"].make,
    "list_region_availability": SAMPLES["regionId"].make,
    "list_volumes_of_instance": _attached_volume,
    "list_tagged": _tag,
}
"""What makes a row of a list, by its name; where no endpoint shows one row alone."""

QUERIES = {"explain_request": "method=POST&path=/v4/compute/instances"}
"""What is asked of an endpoint that has a query of its own."""


def lacking(endpoint: Endpoint) -> list[str]:
    """The parameters of an endpoint that have no sample."""
    return [name for name in path_params(endpoint.path) if name not in SAMPLES]


def _sample(name: str) -> Sample:
    assert name in SAMPLES, f"add {name} to SAMPLES in tests/api/samples.py"
    return SAMPLES[name]


async def sample_path(endpoint: Endpoint, client: Client, roost: Roost, account: Account) -> str:
    """The endpoint's path to things that exist."""
    values = {
        name: await _sample(name).make(client, roost, account)
        for name in path_params(endpoint.path)
    }
    return fill(endpoint, values)


def missing_path(endpoint: Endpoint) -> str:
    """The endpoint's path to things that do not exist."""
    return fill(endpoint, {name: _sample(name).missing for name in path_params(endpoint.path)})


def fill(endpoint: Endpoint, values: dict[str, Value]) -> str:
    path = endpoint.path
    for name, kind in path_params(endpoint.path).items():
        suffix = "" if kind == "str" else f":{kind}"
        path = path.replace(f"{{{name}{suffix}}}", str(values[name]))
    return path


def sample_query(endpoint: Endpoint) -> str:
    """A query that the endpoint answers; empty where it needs none."""
    asked = not endpoint.query or endpoint.name in QUERIES
    assert asked, f"add {endpoint.name} to QUERIES in tests/api/samples.py"
    return QUERIES.get(endpoint.name, "")


def row_maker(listed: Endpoint, endpoints: Iterable[Endpoint]) -> Maker:
    """What makes a row of a list: the sample of the endpoint that shows one, or the list's own."""
    made_alone = ROWS.get(listed.name)
    if made_alone is not None:
        return made_alone
    for shown in endpoints:
        parent, _, last = shown.path.rpartition("/")
        if shown.method == "GET" and parent == listed.path and last.startswith("{"):
            return _sample(last.strip("{}").partition(":")[0]).make
    raise AssertionError(f"add {listed.name} to ROWS in tests/api/samples.py")


async def become_welcome(
    endpoint: Endpoint, client: Client, roost: Roost, account: Account
) -> None:
    """Make the caller a parent where users of other accounts are refused."""
    if "default" in endpoint.refuses:
        assert "parent" not in endpoint.refuses, f"who may call {endpoint.name}?"
        await _child(client, roost, account)
