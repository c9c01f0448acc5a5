"""A client of a Roost with a lab: its own routes, and the API beside them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from tests.support.client import Client, Contract, Json, until
from tests.support.server import RunningRoost, running_roost, simulated

INSTANCE = {
    "region": "local",
    "type": "g1-nano-1",
    "image": "roost/mini",
    "root_pass": "x9!kQ2vv_z",
}


class Lab:
    """Speaks as the operator, unless told a token."""

    def __init__(self, session: aiohttp.ClientSession, running: RunningRoost, api: Client) -> None:
        self._session = session
        self.running = running
        self.api = api

    async def send(
        self, method: str, path: str, body: Json = None, token: str | None = None
    ) -> tuple[int, bytes]:
        """Any request below `/lab`; `body` is JSON, or bytes as they are. No token: ""."""
        token = self.running.token if token is None else token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        url = f"{self.running.url}/lab{path}"
        async with self._session.request(method, url, data=data, headers=headers) as response:
            return response.status, await response.read()

    async def get(self, path: str) -> Json:
        return await self._success("GET", path)

    async def put(self, path: str, body: Json) -> Json:
        return await self._success("PUT", path, body)

    async def post(self, path: str, body: Json = None) -> Json:
        return await self._success("POST", path, body)

    async def delete(self, path: str) -> Json:
        return await self._success("DELETE", path)

    async def save(self) -> bytes:
        status, state = await self.send("POST", "/save")
        assert status == 200, state
        return state

    async def refused(self, method: str, path: str, body: Json = None) -> tuple[int, Json]:
        """Status and errors."""
        status, answer = await self.send(method, path, body)
        return status, json.loads(answer)["errors"]

    async def create(self, **fields: object) -> int:
        """An instance, on its way."""
        created = await self.api.post("/compute/instances", {**INSTANCE, **fields})
        return int(created["id"])

    async def settled(self, compute_id: int, status: str = "running") -> None:
        await until(
            lambda: self.api.get(f"/compute/instances/{compute_id}"),
            lambda row: bool(row["status"] == status),
        )

    async def lists(self) -> list[bytes]:
        """What users see, byte for byte."""
        paths = ("/compute/instances", "/account/events", "/regions", "/images", "/compute/types")
        return [(await self.api.send("GET", path)).raw for path in paths]

    async def _success(self, method: str, path: str, body: Json = None) -> Json:
        status, answer = await self.send(method, path, body)
        assert status == 200, answer
        return json.loads(answer)


@asynccontextmanager
async def running_lab(state: Path, url: str, **settings: object) -> AsyncIterator[Lab]:
    """A Roost with a lab until the end of the block."""
    wanted = simulated(state, url, **{"lab": True, **settings})
    async with running_roost(wanted) as running, aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        api = Client(session, contract, running.url).as_user(running.token)
        yield Lab(session, running, api)
