"""Revisions that there never were: what the API is now has come of these, for tests."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import uvicorn
from prometheus_client import CollectorRegistry

from roost.app.http_server import HttpServer
from roost.app.roost import Roost
from roost.web.api import Api
from roost.web.headers import REVISION
from roost.web.protocol import BoundedProtocol
from roost.web.registry import Registry
from roost.web.revisions.changes import Added, Moved, Removed, Reworded, Split
from roost.web.revisions.documents import build_document_of
from roost.web.revisions.revision import Revision
from roost.web.revisions.revisions import Revisions
from roost.web.translation import Json
from tests.support.client import Client, Contract

FIRST, SECOND = "2024-02-29", "2025-01-31"


def _apart(value: Json) -> tuple[Json, ...] | None:
    """`retry/refresh`."""
    if not isinstance(value, str):
        return None
    first, _, second = value.partition("/")
    if not (first.isdecimal() and second.isdecimal() and len(value) < 20):
        return None
    return int(first), int(second)


_TIMES = Split(
    "times",
    ("retry_sec", "refresh_sec"),
    _apart,
    lambda values: "/".join(str(each) for each in values),
    {"type": "string"},
)
_TYPE = Reworded("type", {"primary": "master", "slave": "slave"}, {})
_STATUS = Reworded("status", {"ready": "active"}, {"resizing": "creating"})
_ZONE = Removed("zone", lambda record: f"{record.get('region')}-a", {"type": "string"})
_NAME, _TITLE = Moved("name", "label"), Moved("title", "name")

SPOKEN = (
    Revision(FIRST, "The first.", {}),
    Revision(
        SECOND,
        "Volumes have names.",
        {
            "VolumeRow": (_TITLE,),
            "CreateVolume": (_TITLE,),
            "UpdateVolume": (_TITLE,),
            "EventRow": (Moved("did", "what"),),
        },
    ),
    Revision(
        REVISION,
        "Much is called otherwise.",
        {
            "VolumeRow": (_NAME, _STATUS, _ZONE, Added("hardware_type")),
            "CreateVolume": (_NAME,),
            "UpdateVolume": (_NAME,),
            "DomainRow": (_TIMES, _TYPE),
            "CreateDomain": (_TIMES, _TYPE),
            "InstanceRow": (Moved("hardware.memory", "specs.memory"), Moved("v4", "ipv4")),
            "EventRow": (Moved("what", "action"),),
            "Entity": (Moved("kind", "type"),),
            "CreateFirewall": (Moved("policy", "rules"),),
            "FirewallRule": (Moved("proto", "protocol"),),
        },
    ),
)


@asynccontextmanager
async def speaking(roost: Roost, spoken: tuple[Revision, ...]) -> AsyncIterator[str]:
    """The address of one more API of the same process, which has these revisions."""
    # Metrics have their names once in a registry.
    async with roost.revocations() as revocations:
        edge = await replace(roost, metrics=CollectorRegistry()).edge(revocations)
        api = Api(replace(edge, revisions=Revisions(edge.registry, spoken)))
        ready = asyncio.Event()
        config = uvicorn.Config(api, log_config=None, lifespan="off", access_log=False)
        server = HttpServer(config, BoundedProtocol, None, ready.set)
        listening = socket.create_server(("127.0.0.1", 0))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        await ready.wait()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


class Speaker:
    """Clients of one such API, each of which holds all against the document of its revision."""

    def __init__(self, session: aiohttp.ClientSession, revisions: Revisions, url: str) -> None:
        self._session = session
        self.url = url
        self._contracts = {
            date: Contract(json.loads(build_document_of(revisions, date)))
            for date in revisions.known
        }

    def client(self, date: str, token: str | None, *, header: bool = True) -> Client:
        """Who speaks a revision by the header, or without it."""
        client = Client(self._session, self._contracts[date], self.url)
        client.token = token
        client.headers = {"Roost-Revision": date} if header else {}
        return client


@asynccontextmanager
async def speaker(roost: Roost, registry: Registry) -> AsyncIterator[Speaker]:
    revisions = Revisions(registry, SPOKEN)
    async with speaking(roost, SPOKEN) as url, aiohttp.ClientSession() as session:
        yield Speaker(session, revisions, url)
