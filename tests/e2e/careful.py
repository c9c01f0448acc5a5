"""A client that is not told whether its request was heard, and sends it again."""

import asyncio
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import aiohttp

from tests.support.client import Answer, Client, Json
from tests.support.instances import INSTANCES

_numbers = itertools.count()


@dataclass(frozen=True)
class Request:
    """With a key by which a server knows it again."""

    method: str
    path: str
    body: Json = None
    key: str = field(default_factory=lambda: f"careful-{next(_numbers)}")

    async def send(self, client: Client) -> Answer | None:
        """None when the server died before it answered."""
        try:
            return await client.send(
                self.method, self.path, self.body, {"Idempotency-Key": self.key}
            )
        except (aiohttp.ClientError, ConnectionError):
            return None


def create(body: Json) -> Request:
    return Request("POST", INSTANCES, body)


def change(kind: str, compute_id: int) -> Request:
    """By the kind of its job, such as `compute_boot`."""
    path = f"{INSTANCES}/{compute_id}"
    if kind == "compute_delete":
        return Request("DELETE", path)
    return Request("POST", f"{path}/{kind.removeprefix('compute_')}", {})


async def send_all(client: Client, requests: Iterable[Request]) -> list[Answer | None]:
    """All at the same time."""
    return await asyncio.gather(*(request.send(client) for request in requests))


async def send_again(
    client: Client, requests: list[Request], before: list[Answer | None]
) -> list[Answer]:
    """Every one is accepted, and answered as before if it was answered then."""
    answers = []
    for request, first, again in zip(
        requests, before, await send_all(client, requests), strict=True
    ):
        assert again is not None
        if request.method == "DELETE":
            assert again.status in (200, 404)
        else:
            assert again.status == 200, again.body
            assert first is None or first.body == again.body
        answers.append(again)
    return answers
