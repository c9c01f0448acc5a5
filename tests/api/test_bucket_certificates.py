"""Certificates of buckets: over HTTP, and as their TLS listener shows them."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from operator import eq

import pytest

from roost.app import object_tls
from roost.app.object_tls import ObjectTls
from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.secrets import Box
from roost.web.connections import Connections, Networks
from tests.support.certificates import Made, certificate_for
from tests.support.client import Client, Json, until
from tests.support.object_storage import made_bucket, object_engine, path_of, settled

TAKEN = "The bucket has a certificate; delete it before you upload another"


def body_of(made: Made) -> Json:
    return {"certificate": made.pem, "private_key": made.key_pem}


async def uploaded(client: Client, bucket: Json) -> Made:
    made = certificate_for(bucket["hostname"])
    assert await client.post(f"{path_of(bucket)}/ssl", body_of(made)) == {"ssl": True}
    return made


@pytest.mark.spec(
    "A object storage ssl view",
    "A object storage ssl create",
    "A object storage ssl delete",
    "A object storage 7",
)
async def test_upload_and_replace(client: Client, stranger: Client, roost: Roost) -> None:
    bucket = await made_bucket(client)
    path = f"{path_of(bucket)}/ssl"
    assert await client.get(path) == {"ssl": False}
    assert await client.delete(path) == {}
    made = await uploaded(client, bucket)
    assert await client.get(path) == {"ssl": True}
    for method in ("GET", "DELETE"):
        assert (await stranger.send(method, path)).status == 404
    assert (await stranger.send("POST", path, body_of(made))).status == 404
    another = certificate_for(bucket["hostname"])
    refused = await client.send("POST", path, body_of(another))
    assert (refused.status, refused.problems) == (400, [(None, TAKEN)])
    assert await client.delete(path) == {}
    assert await client.get(path) == {"ssl": False}
    await uploaded(client, bucket)
    rows = await roost.store.fetch("select private_key from object_certificate")
    assert all(b"PRIVATE KEY" not in row["private_key"] for row in rows)
    assert [action for action, _ in await settled(client)][1:] == [
        "obj_bucket_ssl_upload",
        "obj_bucket_ssl_delete",
        "obj_bucket_ssl_upload",
    ]
    await client.delete(path_of(bucket))
    await settled(client)
    left = "select count(*) from object_certificate c join object_bucket b on b.id = c.bucket_id"
    assert await roost.store.fetchval(f"{left} where b.label = $1", bucket["label"]) == 0


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"certificate": None}, [("certificate", "certificate is required")]),
        ({"private_key": None}, [("private_key", "private_key is required")]),
        ({"certificate": 7}, [("certificate", "Must be a string")]),
        ({"certificate": "x"}, [("certificate", "Must be a certificate in PEM")]),
        ({"certificate": "x" * 16385}, [("certificate", "Length must be 1-16384 characters")]),
        ({"private_key": "x" * 8193}, [("private_key", "Length must be 1-8192 characters")]),
    ],
)
async def test_what_is_refused(
    client: Client, changes: Json, problems: list[tuple[str, str]]
) -> None:
    bucket = await made_bucket(client)
    body = {**body_of(certificate_for(bucket["hostname"])), **changes}
    answer = await client.send("POST", f"{path_of(bucket)}/ssl", body)
    assert (answer.status, answer.problems) == (400, problems)
    assert await client.get(f"{path_of(bucket)}/ssl") == {"ssl": False}


async def test_two_at_once(client: Client) -> None:
    bucket = await made_bucket(client)
    body = body_of(certificate_for(bucket["hostname"]))
    path = f"{path_of(bucket)}/ssl"
    answers = await asyncio.gather(*(client.send("POST", path, body) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]


@asynccontextmanager
async def echo() -> AsyncIterator[str]:
    """The URL of a server that sends back what it gets, with a mark before it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            writer.write(b"seen:" + piece)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def tls(roost: Roost, monkeypatch: pytest.MonkeyPatch, most: int = 9) -> AsyncIterator[int]:
    """The port of a listener before a server that is no S3 server."""
    monkeypatch.setattr(object_tls, "_LOOK_SECONDS", 0.01)
    services = roost.services
    connections = Connections(most, most, Networks(""))
    listener = ObjectTls(roost.store, services.get(Box), services.get(Engines), connections)
    async with echo() as url:

        async def endpoint() -> str:
            return url

        monkeypatch.setattr(object_engine(roost), "endpoint", endpoint, raising=False)
        async with listener.listening("127.0.0.1", 0) as port:
            yield port


async def called(port: int, hostname: str, trusted: Made) -> bytes | None:
    """What comes back; None where no such certificate is shown."""
    context = ssl.create_default_context(cadata=trusted.pem)
    try:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context, server_hostname=hostname
        )
    except OSError:
        return None
    writer.write(b"hello")
    answer = await asyncio.wait_for(reader.readexactly(10), 30)
    writer.close()
    return answer


async def test_each_bucket_shows_its_own(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await made_bucket(client), await made_bucket(client)
    async with tls(roost, monkeypatch) as port:
        shown = {each["hostname"]: await uploaded(client, each) for each in (one, other)}
        for hostname, made in shown.items():
            await until(partial(called, port, hostname, made), partial(eq, b"seen:hello"))
        swapped = zip(shown, reversed(shown.values()), strict=True)
        assert [await called(port, *each) for each in swapped] == [None, None]
        assert await called(port, "none.objects.roost.internal", shown[one["hostname"]]) is None
        await client.delete(f"{path_of(one)}/ssl")
        hostname = one["hostname"]
        await until(lambda: called(port, hostname, shown[hostname]), lambda got: got is None)
        again = await uploaded(client, one)
        await until(lambda: called(port, hostname, again), lambda got: got == b"seen:hello")
        assert await called(port, hostname, shown[hostname]) is None


async def test_who_says_nothing_makes_room(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = await made_bucket(client)
    made = await uploaded(client, bucket)
    async with tls(roost, monkeypatch, most=3) as port:
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        hostname = bucket["hostname"]
        await until(lambda: called(port, hostname, made), lambda got: got == b"seen:hello")
        assert await asyncio.wait_for(silent[0][0].read(), 30) == b""
        for _, writer in silent:
            writer.close()


async def test_a_key_that_cannot_be_opened_fails_its_own_bucket_only(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await made_bucket(client), await made_bucket(client)
    made = {each["hostname"]: await uploaded(client, each) for each in (one, other)}
    sealed_elsewhere = Box(b"k" * 32).seal(b"some key")
    await roost.store.execute(
        """
        update object_certificate set private_key = $2
        where bucket_id = (select id from object_bucket where hostname = $1)
        """,
        one["hostname"],
        sealed_elsewhere,
    )
    async with tls(roost, monkeypatch) as port:
        hostname = other["hostname"]
        await until(lambda: called(port, hostname, made[hostname]), lambda got: got is not None)
        assert await called(port, one["hostname"], made[one["hostname"]]) is None
        assert await called(port, hostname, made[hostname]) == b"seen:hello"
