"""What the metadata service answers, over connections whose guests the tests choose."""

import asyncio
import base64
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from ipaddress import IPv6Interface

import aiohttp
import orjson
import pytest
from prometheus_client import CollectorRegistry

from roost.app.metadata.listener import keep_listening
from roost.app.metadata.site import RATE, MetadataSite
from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.engines.listeners import free_tcp_port
from roost.resources.compute.network_engine import Connected
from roost.web.rates import RateLimiter
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, PASSWORD, made, settled

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1vBJZ2AkFVpGy9RPGMWIXHv3Nzx3dXVn5eWj7vfjQY one"
SCRIPT = base64.b64encode(b"#cloud-config\nhostname: web\n" * 9).decode()
REGION = "us-lake"
JSON = {"Accept": "application/json"}


class Doors:
    """A MetadataEngine at an address of this host, which believes the test who asks."""

    def __init__(self) -> None:
        self.place: str | None = "first"
        self.guest = 0
        self.broken: Exception | None = None
        self.tries = 0
        self.port = free_tcp_port()

    def networks(self) -> Sequence[str]:
        return ["region"]

    def identity(self, network: str) -> str | None:
        return self.place

    async def listen(self, network: str) -> Sequence[socket.socket]:
        self.tries += 1
        if self.broken is not None:
            raise self.broken
        return (socket.create_server(("127.0.0.1", self.port)),)

    def asker(self, connection: Connected) -> int:
        return self.guest


class Guest:
    """Asks, in a connection of its own each time."""

    def __init__(self, doors: Doors, session: aiohttp.ClientSession, row: Json) -> None:
        self._doors = doors
        self._session = session
        self.row = row
        self.token = ""

    async def ask(self, method: str, path: str, **headers: str) -> tuple[int, str]:
        self._doors.guest = self.row["id"]
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        url = f"http://127.0.0.1:{self._doors.port}{path}"
        async with self._session.request(method, url, headers=named) as answer:
            return answer.status, await answer.text()

    async def log_in(self, seconds: int = 60) -> None:
        status, self.token = await self.ask(
            "PUT", "/v1/token", Metadata_Token_Expiry_Seconds=str(seconds)
        )
        assert status == 200

    async def get(self, path: str, **headers: str) -> str:
        status, text = await self.ask("GET", path, Metadata_Token=self.token, **headers)
        assert status == 200, text
        return text

    async def read(self, path: str) -> Json:
        document: Json = orjson.loads(await self.get(path, **JSON))
        return document


@pytest.fixture
async def doors() -> Doors:
    return Doors()


@pytest.fixture
def site(roost: Roost) -> MetadataSite:
    return MetadataSite(REGION, roost.requests, roost.services, roost.clock, roost.limiter)


@asynccontextmanager
async def listening(
    doors: Doors, site: MetadataSite, session: aiohttp.ClientSession, *, at_once: bool = True
) -> AsyncIterator[None]:
    serving = asyncio.create_task(keep_listening(doors, site))
    try:
        if at_once:
            await until(lambda: answers(session, doors.port), bool)
        yield
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def answers(session: aiohttp.ClientSession, port: int) -> bool:
    try:
        async with session.get(f"http://127.0.0.1:{port}/") as answer:
            return answer.status == 404
    except aiohttp.ClientError:
        return False


@pytest.fixture
async def session(doors: Doors, site: MetadataSite) -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(force_close=True)
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        listening(doors, site, session),
    ):
        yield session


@pytest.fixture
async def guest(doors: Doors, session: aiohttp.ClientSession, client: Client) -> Guest:
    row = await made(
        client,
        label="asking",
        tags=["one", "two"],
        authorized_keys=[KEY],
        metadata={"user_data": SCRIPT},
        backups_enabled=True,
        private_ip=True,
    )
    guest = Guest(doors, session, row)
    await guest.log_in()
    return guest


async def test_the_instance(guest: Guest, client: Client) -> None:
    row = guest.row
    account = await client.get("/account")
    assert await guest.read("/v1/instance") == {
        "id": row["id"],
        "label": "asking",
        "region": REGION,
        "type": row["type"],
        "host_uuid": row["host_uuid"],
        "tags": ["one", "two"],
        "specs": {
            key: row["specs"][key] for key in ("vcpus", "memory", "disk", "transfer", "gpus")
        },
        "backups": {"enabled": True, "status": "pending"},
        "image": {"id": "roost/debian12", "label": "Debian 12"},
        "account_euuid": account["euuid"],
    }


async def test_the_instance_as_text(guest: Guest) -> None:
    lines = (await guest.get("/v1/instance")).splitlines()
    assert lines == sorted(lines)
    expected = {f"id: {guest.row['id']}", "backups.enabled: true", "tags: one", "tags: two"}
    assert expected < set(lines)


async def test_the_network(guest: Guest, client: Client) -> None:
    ips = await client.get(f"{INSTANCES}/{guest.row['id']}/ips")
    document = await guest.read("/v1/network")
    public, private = (ips["ipv4"][kind][0]["address"] for kind in ("public", "private"))
    assert document["interfaces"] == []
    assert document["ipv4"] == {
        "public": [f"{public}/32"],
        "private": [f"{private}/32"],
        "shared": [],
    }
    local = ips["ipv6"]["link_local"]["address"]
    assert document["ipv6"] == {
        "slaac": guest.row["ipv6"],
        "link_local": f"{IPv6Interface(local).ip}/128",
        "ranges": [],
        "shared_ranges": [],
    }
    assert f"ipv4.public: {public}/32" in (await guest.get("/v1/network")).splitlines()


async def test_the_network_as_it_is_now(guest: Guest, client: Client) -> None:
    wanted = {"type": "ipv4", "public": True}
    row = await client.post(f"{INSTANCES}/{guest.row['id']}/ips", wanted)
    document = await guest.read("/v1/network")
    assert f"{row['address']}/32" in document["ipv4"]["public"]


async def test_interfaces_of_the_config(guest: Guest, client: Client) -> None:
    path = f"{INSTANCES}/{guest.row['id']}/configs"
    config = (await client.get(path))["data"][0]
    vlan = {"purpose": "vlan", "label": "inner", "ipam_address": "10.0.0.1/24"}
    await client.put(f"{path}/{config['id']}", {"interfaces": [{"purpose": "public"}, vlan]})
    assert (await guest.read("/v1/network"))["interfaces"] == [
        {"purpose": "public", "label": None, "ipam_address": None},
        vlan,
    ]


async def test_keys_and_user_data(guest: Guest) -> None:
    assert await guest.read("/v1/ssh-keys") == {"users": {"root": [KEY]}}
    assert await guest.get("/v1/ssh-keys") == f"users.root: {KEY}\n"
    assert await guest.get("/v1/user-data") == SCRIPT
    assert await guest.get("/v1/user-data", **JSON) == SCRIPT


async def test_a_rebuild_changes_keys_and_user_data(guest: Guest, client: Client) -> None:
    other = base64.b64encode(b"#!/bin/sh\n").decode()
    body = {"image": "roost/debian12", "root_pass": PASSWORD, "booted": False}
    path = f"{INSTANCES}/{guest.row['id']}"
    await client.post(f"{path}/rebuild", {**body, "metadata": {"user_data": other}})
    await settled(client, guest.row["id"])
    assert await guest.get("/v1/user-data") == other
    assert await guest.get("/v1/ssh-keys") == ""


async def test_without_keys_user_data_and_image(
    doors: Doors, session: aiohttp.ClientSession, client: Client
) -> None:
    guest = Guest(doors, session, await made(client, image=None, root_pass=None, booted=None))
    await guest.log_in()
    assert await guest.get("/v1/user-data") == ""
    assert await guest.read("/v1/ssh-keys") == {"users": {"root": []}}
    found = await guest.read("/v1/instance")
    assert found["image"] is None
    assert found["backups"] == {"enabled": False, "status": None}


async def test_a_token_in_json(guest: Guest) -> None:
    status, text = await guest.ask("PUT", "/v1/token", Metadata_Token_Expiry_Seconds="9", **JSON)
    assert status == 200
    [guest.token] = orjson.loads(text)
    assert (await guest.read("/v1/instance"))["id"] == guest.row["id"]


@pytest.mark.parametrize("seconds", ["0", "86401", "soon", ""])
async def test_a_token_for_no_time(guest: Guest, seconds: str) -> None:
    status, text = await guest.ask("PUT", "/v1/token", Metadata_Token_Expiry_Seconds=seconds)
    assert (status, orjson.loads(text)) == (
        400,
        {
            "errors": [
                {
                    "field": "Metadata-Token-Expiry-Seconds",
                    "reason": "Must be a whole number of seconds, 1-86400",
                }
            ]
        },
    )


PATHS = ("/v1/instance", "/v1/network", "/v1/ssh-keys", "/v1/user-data")


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_without_a_token_of_ones_own(
    doors: Doors, session: aiohttp.ClientSession, guest: Guest, client: Client, path: str
) -> None:
    other = Guest(doors, session, await made(client))
    assert (await guest.ask("GET", path))[0] == 401
    assert (await guest.ask("GET", path, Metadata_Token="x"))[0] == 401
    assert (await other.ask("GET", path, Metadata_Token=guest.token))[0] == 401


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Host"])
async def test_no_header_says_who_asks(guest: Guest, client: Client, header: str) -> None:
    other = await made(client)
    named = {header: str(other["id"])}
    status, text = await guest.ask("GET", "/v1/instance", Metadata_Token=guest.token, **named)
    assert (status, f"id: {guest.row['id']}" in text) == (200, True)


async def test_no_token_for_whom_a_proxy_lets_in(guest: Guest) -> None:
    """A request that a program of the guest passes on for a stranger."""
    headers = {"Metadata-Token-Expiry-Seconds": "60", "X-Forwarded-For": "192.0.2.7"}
    assert (await guest.ask("PUT", "/v1/token", **headers))[0] == 403


@pytest.mark.parametrize("compute_id", [0, 999_999])
async def test_guests_that_nobody_knows(guest: Guest, compute_id: int) -> None:
    stranger = guest
    stranger.row = {"id": compute_id}
    status, token = await stranger.ask("PUT", "/v1/token", Metadata_Token_Expiry_Seconds="60")
    assert status == (403 if compute_id == 0 else 200)
    status, _ = await stranger.ask("GET", "/v1/instance", Metadata_Token=token)
    assert status == (403 if compute_id == 0 else 404)


async def test_instances_of_other_regions_are_not_known(guest: Guest, client: Client) -> None:
    guest.row = await made(client, region="br-south")
    await guest.log_in()
    for path in PATHS:
        assert (await guest.ask("GET", path, Metadata_Token=guest.token))[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/token", 405),
        ("PUT", "/v1/instance", 405),
        ("POST", "/v1/user-data", 405),
        ("GET", "/", 404),
        ("GET", "/latest/meta-data/", 404),
        ("GET", "/v4/account", 404),
        ("GET", "/metrics", 404),
    ],
)
async def test_nothing_else_is_there(guest: Guest, method: str, path: str, status: int) -> None:
    found, text = await guest.ask(method, path, Metadata_Token=guest.token)
    assert found == status
    assert orjson.loads(text)["errors"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"X-Much": "x" * 40_000}, 431), ({f"X-{n}": "x" for n in range(101)}, 431)],
)
async def test_heads_are_bounded(guest: Guest, headers: dict[str, str], status: int) -> None:
    assert (await guest.ask("GET", "/v1/instance", **headers))[0] == status


async def test_a_guest_asks_so_often(
    client: Client, site: MetadataSite, session: aiohttp.ClientSession
) -> None:
    doors = Doors()
    strict = replace(site, limiter=RateLimiter(1, CollectorRegistry()))
    async with listening(doors, strict, session):
        guest = Guest(doors, session, await made(client))
        found = [(await guest.ask("GET", "/v1/instance"))[0] for _ in range(RATE.calls + 1)]
        assert found == [401] * RATE.calls + [429]
        other = Guest(doors, session, await made(client))
        await other.log_in()


async def test_a_network_made_anew_is_served(
    doors: Doors, session: aiohttp.ClientSession, guest: Guest
) -> None:
    """Not where it was; and for whoever holds a token of the one before."""
    before, doors.port = doors.port, free_tcp_port()
    doors.place = "second"
    await until(lambda: answers(session, doors.port), bool)
    assert not await answers(session, before)
    assert (await guest.read("/v1/instance"))["id"] == guest.row["id"]
    doors.place = None
    await until(lambda: answers(session, doors.port), lambda answered: not answered)


@pytest.mark.parametrize("fault", [EngineError("No way"), RuntimeError("Never seen")])
async def test_a_fault_of_the_engine_passes(
    site: MetadataSite, session: aiohttp.ClientSession, fault: Exception
) -> None:
    doors = Doors()
    doors.broken = fault
    async with listening(doors, site, session, at_once=False):
        await until(lambda: tries(doors), lambda seen: seen > 0)
        assert not await answers(session, doors.port)
        doors.broken = None
        await until(lambda: answers(session, doors.port), bool)


async def tries(doors: Doors) -> int:
    return doors.tries
