"""Uploads of images over HTTP (spec A, Images 3 to 7)."""

import asyncio
import errno
import gzip
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count

import aiohttp
import pytest

from roost.app import image_uploads
from roost.app.roost import Roost
from roost.core.spool import SparseFile, Spool
from roost.jobs.kinds import JobArgs
from roost.resources.compute.references import NOT_SET_UP
from roost.resources.images import upload_service
from roost.resources.images.upload_jobs import DUE
from roost.resources.images.upload_rules import CANCELED
from tests.support.captures import IMAGES, captured, first_disk, image_events
from tests.support.client import Client, Json, until
from tests.support.drift import drift
from tests.support.instances import INSTANCES, PASSWORD, made, settled
from tests.support.uploads import MB, OCTETS, UPLOAD, disk_bytes, in_pieces, pending, send
from tests.support.volumes import failing


async def begun(roost: Roost, *answers: Json) -> None:
    """Data of all these have come."""
    numbers = {int(answer["image"]["id"].partition("/")[2]) for answer in answers}

    async def found() -> bool:
        return numbers <= roost.services.get(Spool).numbers()

    await until(found, bool)


@pytest.mark.spec(
    "A images upload",
    "A images upload fields",
    "A images 3",
    "A images 4",
    "A images 5",
    "A images 7",
)
async def test_an_image_is_uploaded(client: Client, roost: Roost) -> None:
    answer = await pending(client, description="mine", cloud_init=True)
    image = answer["image"]
    assert (image["label"], image["description"]) == ("built", "mine")
    assert (image["status"], image["size"], image["type"]) == ("pending_upload", 0, "manual")
    assert (image["is_public"], image["capabilities"]) == (False, ["cloud-init"])
    url = answer["upload_to"]
    assert await send(url, gzip.compress(disk_bytes("mark", 3 * MB))) == (200, {})
    row = await until(
        lambda: client.get(f"{IMAGES}/{image['id']}"), lambda row: row["status"] == "available"
    )
    assert row["size"] == 3
    [event] = await image_events(client, "image_upload")
    assert (event["status"], event["entity"]["label"]) == ("finished", "built")
    number = int(image["id"].partition("/")[2])
    assert number not in roost.services.get(Spool).numbers()
    assert (await send(url, gzip.compress(disk_bytes("again"))))[0] == 404
    for region in ("us-lake", "br-south"):
        instance = await made(client, image=image["id"], region=region)
        assert instance["image"] == image["id"]
    assert await drift(roost, f"image {number}") == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (disk_bytes(""), "The file is not compressed by gzip"),
        (gzip.compress(disk_bytes(""))[:-5], "The file is cut short"),
        (gzip.compress(b"QFI\xfb".ljust(MB, b"\0")), "The file is a qcow2 image; send a raw disk"),
    ],
    ids=count(),
)
async def test_what_is_refused_ends_the_upload(
    client: Client, roost: Roost, data: bytes, reason: str
) -> None:
    answer = await pending(client)
    refused = {"errors": [{"reason": reason}]}
    assert await send(answer["upload_to"], data) == (400, refused)
    path = f"{IMAGES}/{answer['image']['id']}"
    await until(lambda: client.send("GET", path), lambda found: found.status == 404)
    [event] = await image_events(client, "image_upload")
    assert (event["status"], event["message"]) == ("failed", reason)
    number = int(answer["image"]["id"].partition("/")[2])
    assert number not in roost.services.get(Spool).numbers()


async def test_no_data_at_all_change_nothing(client: Client) -> None:
    """A PUT without a body, with its length or without."""
    answer = await pending(client)
    refused = {"errors": [{"reason": "The body is empty: send the data of the image"}]}
    at_once = asyncio.Event()
    at_once.set()
    for nothing in (b"", in_pieces(b"", then=at_once)):
        assert await send(answer["upload_to"], nothing) == (400, refused)
    row = await client.get(f"{IMAGES}/{answer['image']['id']}")
    assert row["status"] == "pending_upload"
    assert (await send(answer["upload_to"], gzip.compress(disk_bytes("mark"))))[0] == 200


async def test_a_web_page_sends_the_data(client: Client) -> None:
    """What it sends is no simple request: browsers ask before (Fetch, CORS-preflight)."""
    answer, origin = await pending(client), {"Origin": "https://console.example.com"}
    asked = {
        **origin,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "content-type",
    }
    url, data = answer["upload_to"], gzip.compress(disk_bytes("mark"))
    text = {"Content-Type": "text/plain"}
    async with aiohttp.ClientSession() as session:
        async with session.options(url, headers=asked) as allowed:
            assert allowed.status == 200
            assert allowed.headers["Access-Control-Allow-Origin"] == "*"
            assert "PUT" in allowed.headers["Access-Control-Allow-Methods"]
            assert "content-type" in allowed.headers["Access-Control-Allow-Headers"]
        async with session.put(url, data=b"x", headers={**text, **origin}) as refused:
            assert refused.status == 415
            assert refused.headers["Access-Control-Allow-Origin"] == "*"
        async with session.put(url, data=data, headers={**OCTETS, **origin}) as taken:
            assert taken.status == 200
            assert taken.headers["Access-Control-Allow-Origin"] == "*"


async def test_a_lost_connection_may_start_again(client: Client, roost: Roost) -> None:
    answer = await pending(client)
    url, data = answer["upload_to"], gzip.compress(disk_bytes("mark"))
    first = asyncio.create_task(send(url, in_pieces(data[:50], data[50:], then=asyncio.Event())))
    await begun(roost, answer)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    status, _ = await until(lambda: send(url, data), lambda found: found[0] != 409)
    assert status == 200


async def test_one_at_a_time_sends(client: Client, roost: Roost) -> None:
    answer = await pending(client)
    url, data = answer["upload_to"], gzip.compress(disk_bytes("mark"))
    held = asyncio.Event()
    first = asyncio.create_task(send(url, in_pieces(data[:50], data[50:], then=held)))
    await begun(roost, answer)
    assert (await send(url, data))[0] == 409
    held.set()
    assert await first == (200, {})


async def test_at_most_two_of_an_account(client: Client, roost: Roost) -> None:
    held = asyncio.Event()
    answers = [await pending(client) for _ in range(3)]
    data = gzip.compress(disk_bytes("mark"))
    running = [
        asyncio.create_task(send(answer["upload_to"], in_pieces(data[:50], data[50:], then=held)))
        for answer in answers[:2]
    ]
    await begun(roost, *answers[:2])
    assert (await send(answers[2]["upload_to"], data))[0] == 429
    held.set()
    assert await asyncio.gather(*running) == [(200, {}), (200, {})]
    assert (await send(answers[2]["upload_to"], data))[0] == 200


@pytest.mark.spec("A limits image upload")
async def test_the_form_of_a_request(client: Client) -> None:
    answer = await pending(client)
    url = answer["upload_to"]
    assert (await send(url, b"x", {"Content-Type": "text/plain"}))[0] == 415
    assert (await send(url[:-1], b"x"))[0] == 404
    assert (await send(f"{url}é", b"x"))[0] == 404
    row = await client.get(f"{IMAGES}/{answer['image']['id']}")
    assert row["status"] == "pending_upload"
    headers = {**OCTETS, "Content-Length": str(5 * 1024**3 + 1)}
    host, _, path = url.removeprefix("http://").partition("/")
    name, port = host.split(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    lines = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    writer.write(f"PUT /{path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n".encode())
    assert b" 413 " in await reader.readline()
    writer.close()


@pytest.mark.spec("A images 6", "A image upload canceled")
async def test_without_data_it_is_canceled(client: Client, roost: Roost) -> None:
    late, early = await pending(client), await pending(client)
    number = int(late["image"]["id"].partition("/")[2])
    await roost.store.execute(
        "update image set created = created - $2::interval,"
        " upload_until = upload_until - $2::interval where number = $1",
        number,
        timedelta(hours=24, seconds=1),
    )
    assert (await send(late["upload_to"], gzip.compress(disk_bytes(""))))[0] == 404
    await roost.queue.enqueue(roost.store, DUE, JobArgs())
    path = f"{IMAGES}/{late['image']['id']}"
    await until(lambda: client.send("GET", path), lambda found: found.status == 404)
    [event] = await image_events(client, "image_upload")
    assert (event["status"], event["message"]) == ("failed", CANCELED)
    assert (await client.get(f"{IMAGES}/{early['image']['id']}"))["status"] == "pending_upload"


async def test_one_that_waits_can_be_deleted_and_not_used(client: Client) -> None:
    answer = await pending(client)
    image = answer["image"]["id"]
    refused = await client.send("POST", "/compute/instances", {"image": image})
    assert refused.status == 400
    await client.delete(f"{IMAGES}/{image}")
    assert (await send(answer["upload_to"], b"x"))[0] == 404


@pytest.mark.parametrize(
    ("change", "field"), [({"label": None}, "label"), ({"region": "nowhere"}, "region")]
)
async def test_fields(client: Client, change: dict[str, object], field: str) -> None:
    body = {"label": "built", "region": "us-lake", **change}
    answer = await client.send("POST", UPLOAD, body)
    assert (answer.status, [name for name, _ in answer.problems]) == (400, [field])


@pytest.mark.parametrize("cloud_init", [True, False])
async def test_events_say_who_sets_the_password(client: Client, cloud_init: bool) -> None:
    answer = await pending(client, cloud_init=cloud_init)
    image = answer["image"]["id"]
    assert (await send(answer["upload_to"], gzip.compress(disk_bytes("mark"))))[0] == 200
    await until(lambda: client.get(f"{IMAGES}/{image}"), lambda row: row["status"] == "available")
    note = "" if cloud_init else NOT_SET_UP
    instance = await made(client, image=image)
    body = {"image": image, "root_pass": PASSWORD}
    await client.post(f"{INSTANCES}/{instance['id']}/rebuild", body)
    await settled(client, instance["id"])
    for action in ("compute_create", "compute_rebuild"):
        [event] = await image_events(client, action)
        assert (event["status"], event["message"]) == ("finished", note)
    copy = await captured(client, disk_id=(await first_disk(client, instance["id"]))["id"])
    await made(client, image=copy["id"])
    assert (await image_events(client, "compute_create"))[0]["message"] == NOT_SET_UP


async def test_a_host_without_room_says_so_and_may_be_asked_again(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await pending(client)
    data = gzip.compress(disk_bytes("mark"))
    with monkeypatch.context() as patched:
        patched.setattr(SparseFile, "write", _no_room)
        status, body = await send(answer["upload_to"], data)
    assert (status, body["errors"][0]["reason"]) == (
        507,
        "There is no room for the data; try again later",
    )
    assert number_of(answer) not in roost.services.get(Spool).numbers()
    row = await client.get(f"{IMAGES}/{answer['image']['id']}")
    assert (row["status"], row["size"]) == ("pending_upload", 0)
    assert (await send(answer["upload_to"], data))[0] == 200


def _no_room(_file: SparseFile, _data: bytes) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


async def test_an_engine_without_room_leaves_nothing(client: Client, roost: Roost) -> None:
    answer = await pending(client)
    async with failing(roost, "image_keep", "The disk of the host is full"):
        assert (await send(answer["upload_to"], gzip.compress(disk_bytes("mark"))))[0] == 200
        [event] = await image_events(client, "image_upload")
    assert (event["status"], event["message"]) == ("failed", "The disk of the host is full")
    assert (await client.send("GET", f"{IMAGES}/{answer['image']['id']}")).status == 404
    assert number_of(answer) not in roost.services.get(Spool).numbers()


async def test_who_sends_nothing_for_long_is_cut_off_and_may_start_again(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, goes = await pending(client), asyncio.Event()
    data = gzip.compress(disk_bytes("mark"))

    async def pieces() -> AsyncIterator[bytes]:
        yield data[:50]
        await goes.wait()
        yield data[50:60]
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        stalled = asyncio.create_task(send(answer["upload_to"], pieces()))
        await begun(roost, answer)
        patched.setattr(image_uploads, "_IDLE_SECONDS", 0.1)
        goes.set()

        async def gone() -> bool:
            return number_of(answer) not in roost.services.get(Spool).numbers()

        await until(gone, bool)
        stalled.cancel()
        await asyncio.gather(stalled, return_exceptions=True)
    status, _ = await until(lambda: send(answer["upload_to"], data), lambda found: found[0] != 409)
    assert status == 200


async def test_an_upload_that_takes_too_long_may_start_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await pending(client)
    data = gzip.compress(disk_bytes("mark"))
    with monkeypatch.context() as patched:
        patched.setattr(upload_service, "SECONDS", 0)
        assert (await send(answer["upload_to"], data))[0] == 408
    assert (await send(answer["upload_to"], data))[0] == 200


def number_of(answer: Json) -> int:
    return int(answer["image"]["id"].partition("/")[2])


async def test_the_least_image_of_clients_test_suites_is_taken(client: Client) -> None:
    """A gzip file with a name and nothing in it."""
    answer = await pending(client)
    least = bytes.fromhex("1f8b0808bd5c91600003746573742e696d670003000000000000000000")
    assert await send(answer["upload_to"], least) == (200, {})
    path = f"{IMAGES}/{answer['image']['id']}"
    row = await until(lambda: client.get(path), lambda row: row["status"] == "available")
    assert row["size"] == 1
