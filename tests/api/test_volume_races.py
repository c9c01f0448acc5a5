"""Requests that meet: one of two that exclude each other wins, the other hears why not.

Nothing is left half done: afterwards rows, slots, engine and events agree.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from roost.app.roost import Roost
from roost.core import instance_queries
from roost.resources.volumes import queries
from tests.support.client import Answer, Client, Json, until
from tests.support.drift import drift
from tests.support.instances import INSTANCES, made
from tests.support.volume_invariants import check_always
from tests.support.volumes import (
    VOLUMES,
    attached,
    made_volume,
    plugged,
    rested,
    running_instance,
    slow,
    volume_body,
)

ROUNDS = 6
BUSY = (
    "Compute busy.",
    "Volume busy.",
    "Compute is not running.",
    "Volume is not attached.",
    "Volume must be detached before it can be deleted.",
)

Call = Callable[[], Awaitable[Answer]]


@pytest.fixture(autouse=True)
async def lasting(roost: Roost) -> AsyncIterator[None]:
    """What wins is still at work when the other one comes."""
    async with slow(
        roost, "volume_plug", "volume_resize", "volume_copy", "volume_delete", "stop", seconds=0.2
    ):
        yield


async def race(*calls: Call) -> list[Answer]:
    """All at once, begun in any order; the answers are in the order of the calls."""
    numbers = random.sample(range(len(calls)), len(calls))
    answers = await asyncio.gather(*(calls[number]() for number in numbers))
    return [answers[numbers.index(number)] for number in range(len(calls))]


def one_wins(answers: list[Answer]) -> int:
    """The winner's position; the others were refused with a reason."""
    (winner,) = [number for number, answer in enumerate(answers) if answer.status == 200]
    for answer in answers:
        if answer.status != 200:
            check_refusal(answer)
    return winner


def check_refusal(answer: Answer) -> None:
    if answer.status == 404:
        return
    assert answer.status == 400
    ((field, reason),) = answer.problems
    known = reason in BUSY or "is already attached to Compute" in reason
    assert known or (field, reason) == ("compute_id", "compute_id is not valid"), reason


async def check_agreement(roost: Roost, *rows: Json) -> None:
    """When all jobs have ended: fsck finds nothing, and no event is open."""
    unfinished = "select count(*) from job where finished is null and resource = any($1)"
    ids = [row["id"] for row in rows]
    resources = [f"{kind}:{each}" for each in ids for kind in ("volume", "compute")]
    await until(lambda: roost.store.fetchval(unfinished, resources), lambda count: count == 0)
    kinds = ["volume" if "filesystem_path" in row else "instance" for row in rows]
    names = [f"{kind} {each}" for kind, each in zip(kinds, ids, strict=True)]
    assert await drift(roost, *names) == []
    open_events = (
        "select count(*) from event where entity_id = any($1)"
        " and status in ('scheduled', 'started')"
    )
    assert await roost.store.fetchval(open_events, [str(each) for each in ids]) == 0


def posting(client: Client, path: str, body: Json = None) -> Call:
    return lambda: client.send("POST", path, body)


def deleting(client: Client, path: str) -> Call:
    return lambda: client.send("DELETE", path)


async def test_two_attaches(client: Client, roost: Roost) -> None:
    first, second = await running_instance(client), await running_instance(client)
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}/attach"
    for _ in range(ROUNDS):
        instances = (first, second)
        answers = await race(
            *(posting(client, path, {"compute_id": each["id"]}) for each in instances)
        )
        winner = instances[one_wins(answers)]
        await check_agreement(roost, volume, first, second)
        assert await plugged(roost, volume["id"]) == winner["id"]
        await client.post(f"{VOLUMES}/{volume['id']}/detach")
        await rested(client, volume["id"])


async def test_many_attaches_to_one_instance(client: Client, roost: Roost) -> None:
    """As many win as it may have volumes."""
    instance = await running_instance(client, type="g1-standard-2")
    volumes = [await made_volume(client, label=f"v{number}") for number in range(8)]
    answers = await race(
        *(
            posting(client, f"{VOLUMES}/{each['id']}/attach", {"compute_id": instance["id"]})
            for each in volumes
        )
    )
    refused = [answer.problems for answer in answers if answer.status != 200]
    reason = "Compute cannot have more than 4 volumes with its memory."
    assert refused == [[(None, reason)]] * 4
    await check_agreement(roost, instance, *volumes)
    rows = (await client.get(f"{INSTANCES}/{instance['id']}/volumes"))["data"]
    assert len(rows) == 4
    for row in rows:
        assert await plugged(roost, row["id"]) == instance["id"]


@pytest.mark.parametrize("runs", [True, False])
async def test_attach_against_delete(client: Client, roost: Roost, runs: bool) -> None:
    instance = await (running_instance(client) if runs else made(client))
    for number in range(ROUNDS):
        volume = await made_volume(client, label=f"v{number}")
        path = f"{VOLUMES}/{volume['id']}"
        attach = posting(client, f"{path}/attach", {"compute_id": instance["id"]})
        winner = one_wins(await race(attach, deleting(client, path)))
        await check_agreement(roost, volume, instance)
        if winner == 0:
            assert (await client.get(path))["compute_id"] == instance["id"]
            await client.post(f"{path}/detach")
            await rested(client, volume["id"])
        else:
            assert (await client.send("GET", path)).status == 404


async def test_resize_against_clone(client: Client, roost: Roost) -> None:
    """A copy that comes first is made first, and as large as its source was shown; what grows is
    not copied."""
    volume = await made_volume(client)
    path, size = f"{VOLUMES}/{volume['id']}", 20
    for number in range(ROUNDS):
        resize = posting(client, f"{path}/resize", {"size": size + 10})
        clone = posting(client, f"{path}/clone", {"label": f"copy{number}"})
        answers = await race(resize, clone)
        assert answers[0].status == 200
        if answers[1].status == 200:
            copy = answers[1].body
            await check_agreement(roost, volume, copy)
            row = await client.get(f"{VOLUMES}/{copy['id']}")
            assert (row["status"], row["size"]) == ("active", copy["size"])
            assert row["size"] in (size, size + 10)
        else:
            assert answers[1].problems == [(None, "Volume is not active.")]
            await check_agreement(roost, volume)
        size += 10
        assert (await client.get(path))["size"] == size


async def test_attach_what_is_still_worked_on_against_reboot(client: Client, roost: Roost) -> None:
    """A guest that boots meanwhile does not get the volume before its turn has come."""
    volume, instance = await made_volume(client), await running_instance(client)
    path, power = f"{VOLUMES}/{volume['id']}", f"{INSTANCES}/{instance['id']}"
    async with slow(roost, "volume_copy", seconds=2):
        copy = await client.post(f"{path}/clone", {"label": "copy"})
        await client.post(f"{path}/resize", {"size": 30})
        await client.post(f"{power}/reboot")
        await client.post(f"{path}/attach", {"compute_id": instance["id"]})
        await check_always(roost)
        await until(lambda: client.get(power), lambda row: row["status"] == "running")
        holder = await plugged(roost, volume["id"])
        copied = (await client.get(f"{VOLUMES}/{copy['id']}"))["status"] == "active"
        assert holder is None or copied
    await check_agreement(roost, volume, instance, copy)
    assert await plugged(roost, volume["id"]) == instance["id"]
    assert (await client.get(path))["size"] == 30


@pytest.mark.parametrize("persists", [True, False])
async def test_attach_against_shutdown(client: Client, roost: Roost, persists: bool) -> None:
    """Both win, unless the volume was to stay for one boot and the guest is going off."""
    volume = await made_volume(client)
    for _ in range(ROUNDS // 2):
        instance = await running_instance(client)
        power, path = f"{INSTANCES}/{instance['id']}", f"{VOLUMES}/{volume['id']}"
        body = {"compute_id": instance["id"], "persist_across_boots": persists}
        attach = posting(client, f"{path}/attach", body)
        answers = await race(attach, posting(client, f"{power}/shutdown"))
        assert answers[1].status == 200
        if answers[0].status != 200:
            assert not persists
            check_refusal(answers[0])
        await check_agreement(roost, volume, instance)
        assert (await client.get(path))["compute_id"] == (instance["id"] if persists else None)
        assert (await client.get(power))["status"] == "offline"
        assert await plugged(roost, volume["id"]) is None
        if persists:
            await client.post(f"{path}/detach")
            await rested(client, volume["id"])


async def test_detach_against_deleting_the_instance(client: Client, roost: Roost) -> None:
    """Deleting always may; the volume is free in the end, with all that is on it."""
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    for _ in range(ROUNDS // 2):
        instance = await running_instance(client)
        await attached(client, volume["id"], instance["id"])
        detach = posting(client, f"{path}/detach")
        answers = await race(detach, deleting(client, f"{INSTANCES}/{instance['id']}"))
        assert answers[1].status == 200
        if answers[0].status != 200:
            check_refusal(answers[0])
        await check_agreement(roost, volume, instance)
        assert (await client.get(path))["compute_id"] is None
        assert await plugged(roost, volume["id"]) is None


async def test_attach_against_deleting_the_instance(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    for _ in range(ROUNDS // 2):
        instance = await running_instance(client)
        attach = posting(client, f"{path}/attach", {"compute_id": instance["id"]})
        answers = await race(attach, deleting(client, f"{INSTANCES}/{instance['id']}"))
        assert answers[1].status == 200
        if answers[0].status != 200:
            check_refusal(answers[0])
        await check_agreement(roost, volume, instance)
        assert (await client.get(path))["compute_id"] is None


async def test_creating_attached_against_deleting_the_instance(
    client: Client, roost: Roost
) -> None:
    for number in range(ROUNDS // 2):
        instance = await running_instance(client)
        body = volume_body(label=f"v{number}", compute_id=instance["id"])
        answers = await race(
            posting(client, VOLUMES, body), deleting(client, f"{INSTANCES}/{instance['id']}")
        )
        assert answers[1].status == 200
        if answers[0].status != 200:
            check_refusal(answers[0])
            continue
        volume = answers[0].body
        await check_agreement(roost, volume, instance)
        row = await client.get(f"{VOLUMES}/{volume['id']}")
        assert (row["status"], row["compute_id"]) == ("active", None)


async def test_two_volumes_of_one_label(client: Client) -> None:
    answers = await race(*(posting(client, VOLUMES, volume_body()) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [200] + [400] * 7
    reasons = {tuple(answer.problems) for answer in answers if answer.status != 200}
    assert reasons == {(("label", "Label must be unique among your volumes"),)}


async def test_two_resizes(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    answers = await race(
        *(posting(client, f"{path}/resize", {"size": size}) for size in (30, 40, 50))
    )
    done = [answer for answer in answers if answer.status == 200]
    assert done
    for answer in answers:
        if answer.status != 200:
            ((_, reason),) = answer.problems
            assert reason in ("Volume is not active.", "Storage volumes can only be resized up")
    await check_agreement(roost, volume)


async def test_two_deletes(client: Client, roost: Roost) -> None:
    volume = await made_volume(client)
    path = f"{VOLUMES}/{volume['id']}"
    answers = await race(*(deleting(client, path) for _ in range(3)))
    assert sorted(answer.status for answer in answers) == [200, 404, 404]
    await check_agreement(roost, volume)


async def test_jobs_wait_for_no_instance(client: Client, roost: Roost) -> None:
    """A row that is updated twice in a transaction has its foreign keys checked again.

    A job that ends holds the volume then; who holds the instance may be waiting for that.
    """
    instance, volume = await made(client), await made_volume(client)
    await attached(client, volume["id"], instance["id"])
    now = roost.clock.now()
    async with roost.store.transaction() as request, roost.store.transaction() as job:
        assert await instance_queries.lock_any(request, instance["id"]) is not None
        await job.execute("set local lock_timeout = '5s'")
        await queries.set_size(job, volume["id"], 30)
        await queries.set_status(job, volume["id"], "active", now)
        await queries.set_size(job, volume["id"], 20)
