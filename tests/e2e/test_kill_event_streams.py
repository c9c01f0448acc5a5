"""A server is killed under a stream and a webhook: each event comes at least once, and in order."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

import aiohttp
import pytest_asyncio

from tests.e2e.cloud import Cloud, opened
from tests.support.client import Json, until
from tests.support.receivers import receiver
from tests.support.streams import reading

KILLS = 3
VOLUMES = 25
"""That are made for each kill."""
_LATER = {"scheduled": 0, "started": 1, "finished": 2, "failed": 2, "notification": 2}
"""A status follows none that is later."""


@pytest_asyncio.fixture
async def cloud(tmp_path: Path) -> AsyncIterator[Cloud]:
    options = {"engines": "simulated", "webhook_networks": "127.0.0.0/8"}
    async with opened(tmp_path / "state", **options) as cloud:
        await cloud.start()
        yield cloud


async def test_nothing_is_lost_between_lives(cloud: Cloud) -> None:
    async with receiver() as to:
        client = await cloud.client()
        await client.post("/account/webhooks", {"label": "all", "url": to.url})
        told: list[Json] = []
        reader = asyncio.create_task(_follow(cloud, told))
        try:
            for life in range(KILLS):
                making = asyncio.create_task(_make_volumes(cloud, life))
                await until(partial(_told, told, life), bool)
                assert cloud.server is not None
                await cloud.server.kill()
                await making
                await cloud.start()
            ended = await until(lambda: _all_events(cloud), _have_ended)
            wanted = {each["id"]: each["status"] for each in ended}
            for heard in (told, to.taken):
                await until(partial(_newest, heard, wanted), wanted.__eq__)
                _check_order(heard)
        finally:
            reader.cancel()


async def _follow(cloud: Cloud, told: list[Json]) -> None:
    """As a browser does: after a break from behind the last message."""
    last = 0
    while True:
        try:
            async with reading(cloud.url, cloud.token, last=last) as stream:
                while (message := await stream.next()) is not None:
                    last = message.id
                    if message.data is not None:
                        told.append(message.data)
        except aiohttp.ClientResponseError as refused:
            if refused.status != 503:
                raise
            await asyncio.sleep(0.5)
        except aiohttp.ClientError:
            await asyncio.sleep(0.05)


async def _make_volumes(cloud: Cloud, life: int) -> None:
    """One after another, until all are made or nobody answers."""
    client = await cloud.client()
    for number in range(VOLUMES):
        body = {"label": f"life{life}-{number}", "region": "us-lake", "size": 10}
        try:
            await client.post("/volumes", body)
        except aiohttp.ClientError:
            return


async def _told(told: Sequence[Json], life: int) -> bool:
    """Whether the stream has told of volumes of this life."""
    labels: list[str] = [each["entity"]["label"] for each in told if each["entity"] is not None]
    return any(label.startswith(f"life{life}-") for label in labels)


async def _all_events(cloud: Cloud) -> list[Json]:
    page = await (await cloud.client()).get("/account/events?page_size=500")
    assert page["pages"] == 1
    return [each for each in page["data"] if each["action"] == "volume_create"]


def _have_ended(events: Sequence[Json]) -> bool:
    return all(_LATER[each["status"]] == 2 for each in events)


async def _newest(heard: Sequence[Json], wanted: dict[int, str]) -> dict[int, str]:
    """How each event was told last."""
    return {each["id"]: each["status"] for each in heard if each["id"] in wanted}


def _check_order(heard: Sequence[Json]) -> None:
    statuses = defaultdict[int, list[int]](list)
    for each in heard:
        statuses[each["id"]].append(_LATER[each["status"]])
    assert {id_: told for id_, told in statuses.items() if told != sorted(told)} == {}
