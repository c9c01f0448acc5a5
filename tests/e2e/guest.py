"""An instance of a real region, and root's shell in its guest."""

from dataclasses import dataclass
from ipaddress import ip_address

from passlib.hash import sha512_crypt

from tests.e2e.checks import SETTLE_SECONDS
from tests.e2e.region import Region
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES


@dataclass(frozen=True)
class Guest:
    """An instance and root's shell in it."""

    region: Region
    client: Client
    path: str

    @classmethod
    async def of(cls, region: Region, row: Json) -> "Guest":
        return cls(region, await region.cloud.client(), f"{INSTANCES}/{row['id']}")

    async def do(self, action: str, body: Json, status: str) -> Json:
        """An action, once its events have ended well and the instance rests."""
        await self.client.post(f"{self.path}/{action}", body)
        row = await until(self.row, lambda row: row["status"] == status, SETTLE_SECONDS)
        wanted = {"entity.id": row["id"], "entity.type": "compute"}
        events = (await self.client.get("/account/events", filter=wanted))["data"]
        assert {event["status"] for event in events} <= {"finished", "notification"}
        return row

    async def row(self) -> Json:
        return await self.client.get(self.path)

    async def run(self, command: str) -> str | None:
        """What a command in the guest prints; None when it fails."""
        address = ip_address((await self.row())["ipv4"][0])
        return await self.region.shell.run(address, command)

    async def says(self, command: str) -> str:
        """The same, from when the guest answers."""
        printed = await until(lambda: self.run(f"{command} && echo"), bool, SETTLE_SECONDS)
        assert printed is not None
        return printed.strip()

    async def check_password(self, password: str) -> None:
        shadow = await self.says("grep ^root: /etc/shadow")
        assert sha512_crypt.verify(password, shadow.split(":")[1])
