"""Reading streams of events."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from tests.support.client import Json

_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Message:
    """`data` is None where there is none: the stream only says how far it is."""

    id: int
    data: Json
    name: str = "message"


class Reader:
    """One connection to `GET /v4/events/stream`."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def next(self) -> Message | None:
        """None at the end."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(_SECONDS):
            while (line := (await self.response.content.readline()).decode()) != "\n":
                if not line:
                    return None
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
        data = json.loads(fields["data"]) if "data" in fields else None
        return Message(int(fields["id"]), data, fields.get("event", "message"))

    async def event(self) -> Message:
        """The next one that has data."""
        while (message := await self.next()) is not None:
            if message.data is not None:
                return message
        raise AssertionError("the stream has ended")

    async def until(self, **wanted: object) -> list[Message]:
        """All up to the first whose data have these fields."""
        found = [await self.event()]
        while {name: found[-1].data.get(name) for name in wanted} != wanted:
            found.append(await self.event())
        return found

    async def ends(self) -> bool:
        """Whether nothing more comes; fails when it goes on."""
        while (message := await self.next()) is not None:
            assert message.data is None, message
        return True


@asynccontextmanager
async def reading(
    url: str, token: str | None, query: str = "", last: int | None = None
) -> AsyncIterator[Reader]:
    """A stream that has begun: what is committed from now on comes."""
    headers: Mapping[str, str] = {"Authorization": f"Bearer {token}"}
    if last is not None:
        headers = {**headers, "Last-Event-ID": str(last)}
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{url}/v4/events/stream{query}", headers=headers) as response,
    ):
        if response.status != 200:
            raise aiohttp.ClientResponseError(
                response.request_info,
                (),
                status=response.status,
                message=await response.text(),
            )
        yield Reader(response)
