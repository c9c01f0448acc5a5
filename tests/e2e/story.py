"""What users do, through the API and from inside guests over SSH, told as it goes."""

import sys
from dataclasses import dataclass, field
from ipaddress import ip_address
from time import monotonic

from tests.e2e.checks import SETTLE_SECONDS
from tests.e2e.region import Region
from tests.support.client import Json, until
from tests.support.instances import INSTANCES


@dataclass
class Story:
    """In one region, by admin."""

    region: Region
    _began: float = field(default_factory=monotonic, kw_only=True)

    def tell(self, text: str) -> None:
        sys.stdout.write(f"{monotonic() - self._began:5.1f} s  {text}\n")

    async def send(self, method: str, path: str, body: Json = None) -> Json:
        """What the API answers to a request that succeeds."""
        answer = await (await self.region.cloud.client()).send(method, path, body)
        assert answer.status == 200, (path, answer)
        shown = "" if body is None else f" {body}"
        self.tell(f"{method} {path}{shown}")
        return answer.body

    async def read(self, path: str) -> Json:
        return await (await self.region.cloud.client()).get(path)

    async def ended(self, entity_id: int, action: str, kind: str = "compute") -> Json:
        """The newest event of an action, once it has ended."""
        event = await until(
            lambda: self._event(entity_id, action, kind),
            lambda found: found is not None and found["status"] in ("finished", "failed"),
            SETTLE_SECONDS,
        )
        self.tell(f"  event {action} {event['status']}: {event['message'] or 'no message'}")
        return event

    async def _event(self, entity_id: int, action: str, kind: str) -> Json:
        client = await self.region.cloud.client()
        wanted = {"entity.id": entity_id, "entity.type": kind, "action": action}
        events = (await client.get("/account/events", filter=wanted))["data"]
        return max(events, key=lambda event: event["id"], default=None)

    async def run(self, compute_id: int, command: str) -> str | None:
        """What a command in the guest prints; None when it fails."""
        row = await self.read(f"{INSTANCES}/{compute_id}")
        return await self.region.shell.run(ip_address(row["ipv4"][0]), command)

    async def done(self, compute_id: int, command: str) -> str:
        printed = await self.run(compute_id, command)
        assert printed is not None, command
        self.tell(f"  guest {compute_id}# {command}\n{' ' * 13}{printed.strip()}")
        return printed.strip()

    async def booted(self, compute_id: int) -> None:
        await until(lambda: self.run(compute_id, "echo up"), bool, SETTLE_SECONDS)
