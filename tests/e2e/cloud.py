"""A Roost of its own: one state folder, served by real processes that come and go."""

import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from roost.settings import Settings
from tests.e2e.program import ROOST, ROOT, Program
from tests.support.client import Client, Contract, Json

COMMAND_SECONDS = 120.0


class Cloud:
    """`options` are those of `Settings`."""

    def __init__(
        self, state: Path, options: Mapping[str, object], session: aiohttp.ClientSession
    ) -> None:
        self.state = state
        self._options = {
            "state": state,
            "listen": "127.0.0.1:0",
            "simulated_latency": 0,
            "rate_limit_scale": 0,
            "access_log": False,
            "job_lease": 1,
            **options,
        }
        self._session = session
        self._contract: Contract | None = None
        self.server: Program | None = None
        self.url = ""

    @property
    def settings(self) -> Settings:
        return Settings.model_validate(self._options)

    @property
    def environment(self) -> dict[str, str]:
        """The same settings for a process."""
        names = {name: f"ROOST_{name.upper()}" for name in self._options}
        names |= {"database_url": "DATABASE_URL"}
        return {names[name]: str(value) for name, value in self._options.items()}

    @property
    def token(self) -> str:
        return (self.state / "admin.token").read_text().strip()

    @property
    def log(self) -> Path:
        return self.state.with_suffix(".log")

    async def start(self, *options: str, program: tuple[str | Path, ...] = (ROOST,)) -> None:
        """Serve; returns when requests are accepted."""
        self.server = await self.launch("serve", *options, program=program)
        self.url = await self.server.said("roost ready ")

    async def launch(self, *arguments: str, program: tuple[str | Path, ...] = (ROOST,)) -> Program:
        return await Program.start((*program, *arguments), self.environment, self.log)

    async def client(self) -> Client:
        """Speaks as admin with the server that runs now."""
        if self._contract is None:
            async with self._session.get(f"{self.url}/v4/openapi.json") as response:
                self._contract = Contract(await response.json())
        return Client(self._session, self._contract, self.url).as_user(self.token)

    async def instances(self) -> dict[int, Json]:
        """All of them as the API shows them, by id."""
        client = await self.client()
        page = await client.get("/compute/instances?page_size=500")
        assert page["pages"] == 1
        return {row["id"]: row for row in page["data"]}

    def command(
        self, *arguments: str, seconds: float = COMMAND_SECONDS
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command beside the server to its end."""
        return subprocess.run(
            [ROOST, *arguments],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def host(self, *command: str, seconds: float = COMMAND_SECONDS) -> str:
        """What `roost host` says, which goes well."""
        done = self.command("host", *command, seconds=seconds)
        assert done.returncode == 0, done.stderr
        return done.stdout

    async def close(self) -> None:
        """Whatever became of it; nothing of the state runs afterwards."""
        if self.server is not None:
            await self.server.kill()
        if (self.state / "serve.json").exists():
            done = self.command("down")
            assert done.returncode == 0, done.stderr


@asynccontextmanager
async def opened(state: Path, **options: object) -> AsyncIterator[Cloud]:
    """A Roost that is not served yet; at the end of the block nothing of it runs."""
    async with aiohttp.ClientSession() as session:
        cloud = Cloud(state, options, session)
        try:
            yield cloud
        finally:
            await cloud.close()
