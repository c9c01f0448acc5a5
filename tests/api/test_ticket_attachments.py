"""Attachments of tickets: good files are stored exactly, of bad ones nothing is left."""

import asyncio
import io
import os
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import aiohttp
import pytest
from PIL import Image

from roost.app.fsck import check_all
from roost.app.roost import Roost
from roost.core.fsck import Installation
from roost.resources.support import queries, rules
from roost.resources.support.engine import ATTACHMENT_PLANE
from roost.resources.support.fsck import check_attachments
from roost.resources.support.queries import Ticket
from tests.support.client import Answer, Client
from tests.support.forms import BOUNDARY, FormPart, form
from tests.support.pictures import picture
from tests.support.server import RunningRoost, running_roost, simulated

pytestmark = pytest.mark.spec("A support attachments")

TICKETS = "/support/tickets"
BODY = {"summary": "No connection", "description": "See the file."}
PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
PNG, JPEG, GIF, TIFF = (picture(kind=kind) for kind in ("PNG", "JPEG", "GIF", "TIFF"))
EMPTY, NAMELESS = "Must not be empty", "Must be a file with a name"
BROKEN = "The body must be a whole multipart form"
TWO_FILES, REQUIRED = "Must be exactly one file", "file is required"
PATH = "The file name must not contain a path"
CONTROL = "The file name must have 1-255 characters, and no control characters"
ENDINGS = ".gif, .jpg, .jpeg, .pjpg, .pjpeg, .tif, .tiff, .png, .pdf, .txt"
ENDING = f"The file name must end in one of {ENDINGS}"


def wrong(extension: str) -> str:
    return f"The content is not that of a .{extension} file"


def animation() -> bytes:
    file = io.BytesIO()
    frames = [Image.new("P", (4, 4), n) for n in range(3)]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    return file.getvalue()


@pytest.fixture
async def ticket_id(client: Client) -> int:
    return int((await client.post(TICKETS, BODY))["id"])


@pytest.fixture
def folder(roost: Roost) -> Path:
    return roost.settings.state / "attachments"


def stored(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()} if folder.exists() else set()


async def sent(client: Client, ticket_id: int, content_type: str, data: bytes) -> Answer:
    headers = {"Content-Type": content_type}
    path = f"{TICKETS}/{ticket_id}/attachments"
    return await client.send("POST", path, headers=headers, data=data)


async def attached(client: Client, ticket_id: int, *parts: FormPart) -> Answer:
    return await sent(client, ticket_id, *form(*parts))


async def names(client: Client, ticket_id: int) -> list[str]:
    return list((await client.get(f"{TICKETS}/{ticket_id}"))["attachments"])


GOOD: Mapping[str, bytes] = {
    "shot.png": PNG,
    "SHOT.PNG": PNG,
    "photo.jpg": JPEG,
    "photo.jpeg": JPEG,
    "photo.pjpg": JPEG,
    "photo.pjpeg": JPEG,
    "scan.tif": TIFF,
    "scan.tiff": TIFF,
    "moving.gif": animation(),
    "still.gif": GIF,
    "bill.pdf": PDF,
    "log.txt": b"line 1\r\nline 2\n\x1b[31mred\x1b[0m\ttab",
    "utf-8.txt": "d\u00e9j\u00e0 vu \U0001f600".encode(),
    "latin-1.txt": "d\u00e9j\u00e0 vu".encode("latin-1"),
    "utf-16.txt": "d\u00e9j\u00e0 vu".encode("utf-16"),
    "page.txt": b"<html><script>alert(1)</script></html>",
    "one.txt": b"x",
    "border.txt": f"\r\n--{BOUNDARY[:-1]}\r\n--x\n--{BOUNDARY}\r\n".encode(),
    "a.b.c.txt": b"x",
    "a name with spaces, and; more=.txt": b"x",
    "na\u00efve \u65e5\u672c \U0001f600 \u05e9.txt": b"x",
    "x" * 251 + ".txt": b"x",
    "large.txt": b"x" * rules.MAX_FILE,
}


@pytest.mark.spec("A support attachments endings")
@pytest.mark.parametrize(("name", "content"), GOOD.items(), ids=[n[:20] for n in GOOD])
async def test_good_files_are_stored_exactly(
    client: Client, roost: Roost, ticket_id: int, folder: Path, name: str, content: bytes
) -> None:
    before = stored(folder)
    answer = await attached(client, ticket_id, FormPart(name, content))
    assert (answer.status, answer.body) == (200, {}), answer.body
    assert await names(client, ticket_id) == [name]
    (row,) = await queries.attachments_of(roost.store, ticket_id)
    assert stored(folder) - before == {row.key}
    assert (folder / row.key).read_bytes() == content
    assert (row.name, row.size) == (name, len(content))
    assert (folder / row.key).stat().st_mode & 0o777 == 0o600
    (event,) = (await client.get("/account/events", filter={"action": "ticket_attachment_upload"}))[
        "data"
    ]
    assert event["entity"]["id"] == ticket_id


FILE = FormPart("a.txt", b"x")
WHOLE = form(FILE)[1]
BAD: dict[str, tuple[list[FormPart], str]] = {
    "no extension": ([FormPart("file", b"x")], ENDING),
    "only an extension": ([FormPart(".txt", b"x")], ENDING),
    "html": ([FormPart("page.html", b"x")], ENDING),
    "svg": ([FormPart("x.svg", b"<svg/>")], ENDING),
    "program": ([FormPart("x.png.exe", PNG)], ENDING),
    "space after": ([FormPart("x.png ", PNG)], ENDING),
    "empty": ([FormPart("a.txt", b"")], EMPTY),
    "empty image": ([FormPart("a.png", b"")], EMPTY),
    "html as png": ([FormPart("a.png", b"<html></html>")], wrong("png")),
    "png as jpg": ([FormPart("a.jpg", PNG)], wrong("jpg")),
    "jpeg as png": ([FormPart("a.PNG", JPEG)], wrong("PNG")),
    "gif as tiff": ([FormPart("a.tiff", GIF)], wrong("tiff")),
    "tiff as gif": ([FormPart("a.gif", TIFF)], wrong("gif")),
    "png as pdf": ([FormPart("a.pdf", PNG)], wrong("pdf")),
    "pdf as txt": ([FormPart("a.txt", PDF)], wrong("txt")),
    "png as txt": ([FormPart("a.txt", PNG)], wrong("txt")),
    "gif as txt": ([FormPart("a.txt", GIF)], wrong("txt")),
    "program as txt": ([FormPart("a.txt", b"\x7fELF\x02\x01\x01\0\0")], wrong("txt")),
    "broken utf-16": ([FormPart("a.txt", b"\xff\xfe\x00\xd8")], wrong("txt")),
    "signature alone": ([FormPart("a.png", PNG[:8])], wrong("png")),
    "half a png": ([FormPart("a.png", PNG[: len(PNG) // 2])], wrong("png")),
    "half a pdf": ([FormPart("a.pdf", PDF[:20])], wrong("pdf")),
    "pdf later": ([FormPart("a.pdf", b"<html>" + PDF)], wrong("pdf")),
    "too large": ([FormPart("a.txt", b"x" * (rules.MAX_FILE + 1))], "Must be at most 5 MiB"),
    "path up": ([FormPart("../../etc/passwd.txt", b"x")], PATH),
    "absolute path": ([FormPart("/etc/cron.d/x.txt", b"x")], PATH),
    "windows path": ([FormPart("..\\..\\x.txt", b"x")], PATH),
    "drive": ([FormPart("C:\\logs\\x.txt", b"x")], PATH),
    "share": ([FormPart("\\\\host\\logs\\x.txt", b"x")], PATH),
    "control": ([FormPart("a\x01.txt", b"x")], CONTROL),
    "nul": ([FormPart("a\0.txt", b"x")], CONTROL),
    "line end": ([FormPart("a%0D%0Ab.txt", b"x")], CONTROL),
    "long name": ([FormPart("x" * 252 + ".txt", b"x")], CONTROL),
    "no name": ([FormPart(None, b"x")], NAMELESS),
    "empty name": ([FormPart("", b"x")], NAMELESS),
    "nothing": ([FormPart(None, b"x", name="note")], REQUIRED),
    "another field": ([FormPart("a.txt", b"x", name="upload")], REQUIRED),
    "two files": ([FILE, FormPart("b.txt", b"y")], TWO_FILES),
    "two fields": ([FILE, FormPart("b.txt", b"y", name="second")], TWO_FILES),
    "file and text": ([FILE, FormPart(None, b"y")], TWO_FILES),
}


@pytest.mark.spec("A support attachments endings")
@pytest.mark.parametrize(("parts", "reason"), BAD.values(), ids=BAD)
async def test_of_bad_files_nothing_is_left(
    client: Client, ticket_id: int, folder: Path, parts: list[FormPart], reason: str
) -> None:
    before = stored(folder)
    answer = await attached(client, ticket_id, *parts)
    assert (answer.status, answer.problems) == (400, [("file", reason)])
    await nothing_happened(client, ticket_id, folder, before)


async def nothing_happened(client: Client, ticket_id: int, folder: Path, before: set[str]) -> None:
    assert stored(folder) == before
    assert await names(client, ticket_id) == []
    kinds = [row["action"] for row in (await client.get("/account/events"))["data"]]
    assert kinds == ["ticket_create"]


OPENING = f"--{BOUNDARY}\r\n".encode()
DISPOSITION = b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n'
BROKEN_FORMS: dict[str, bytes] = {
    "empty": b"",
    "no form": b"hello",
    "only the end": f"--{BOUNDARY}--\r\n".encode(),
    "cut before the end": WHOLE[:-4],
    "cut in the end": WHOLE[: -len(BOUNDARY) - 3],
    "cut in the content": WHOLE[: WHOLE.index(b"\r\n\r\n") + 5],
    "cut in the head": WHOLE[:60],
    "other boundary": WHOLE.replace(BOUNDARY.encode(), b"other"),
    "bare line ends": WHOLE.replace(b"\r\n", b"\n"),
    "no disposition": OPENING + b"X: y\r\n\r\nx" + WHOLE[-len(BOUNDARY) - 8 :],
    "broken utf-8": WHOLE.replace(b"a.txt", b"\xff.txt"),
    "many headers": WHOLE.replace(DISPOSITION, b"A: b\r\n" * 20 + DISPOSITION),
    "long header": WHOLE.replace(DISPOSITION, b"A: " + b"b" * 9000 + b"\r\n" + DISPOSITION),
    "many parts": form(*[FormPart(None, b"x", name="n")] * 30, FILE)[1],
}


@pytest.mark.parametrize("data", BROKEN_FORMS.values(), ids=BROKEN_FORMS)
async def test_broken_forms(client: Client, ticket_id: int, folder: Path, data: bytes) -> None:
    before = stored(folder)
    answer = await sent(client, ticket_id, form()[0], data)
    assert answer.status == 400
    assert answer.problems in ([(None, BROKEN)], [("file", REQUIRED)])
    await nothing_happened(client, ticket_id, folder, before)


@pytest.mark.parametrize(
    ("content_type", "status", "reason"),
    [
        ("multipart/form-data", 400, "Content-Type must name the boundary of the form"),
        ("multipart/form-data; boundary=", 400, "Content-Type must name the boundary of the form"),
        ("application/json", 415, "Content-Type must be multipart/form-data"),
        ("application/octet-stream", 415, "Content-Type must be multipart/form-data"),
        ("multipart/mixed; boundary=x", 415, "Content-Type must be multipart/form-data"),
    ],
)
async def test_wrong_types(
    client: Client, ticket_id: int, folder: Path, content_type: str, status: int, reason: str
) -> None:
    before = stored(folder)
    answer = await sent(client, ticket_id, content_type, WHOLE)
    assert (answer.status, answer.problems) == (status, [(None, reason)])
    await nothing_happened(client, ticket_id, folder, before)


async def test_a_form_that_is_far_too_large(client: Client, ticket_id: int, folder: Path) -> None:
    before = stored(folder)
    answer = await attached(client, ticket_id, FormPart("a.txt", b"x" * (rules.MAX_FILE + 70_000)))
    limit = rules.MAX_FILE + 64 * 1024
    assert answer.status == 413
    assert answer.problems == [(None, f"The body must not be larger than {limit} bytes")]
    await nothing_happened(client, ticket_id, folder, before)


async def test_an_upload_that_is_broken_off(
    client: Client, running: RunningRoost, ticket_id: int, folder: Path
) -> None:
    before = stored(folder)
    host, port = running.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = (
        f"POST /v4{TICKETS}/{ticket_id}/attachments HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {client.token}\r\nContent-Type: {form()[0]}\r\n"
        f"Content-Length: {len(WHOLE)}\r\n\r\n"
    )
    writer.write(head.encode() + WHOLE[:-1])
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert await reader.read() == b""
    await nothing_happened(client, ticket_id, folder, before)


async def test_as_libraries_send_it(client: Client, running: RunningRoost, ticket_id: int) -> None:
    """Also a name in the form that some of them give it."""
    data = aiohttp.FormData(quote_fields=False)
    data.add_field("note", "hello")
    data.add_field("file", PNG, filename="na\u00efve.png", content_type="image/png")
    url = f"{running.url}/v4{TICKETS}/{ticket_id}/attachments"
    headers = {"Authorization": f"Bearer {client.token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=data, headers=headers) as answer,
    ):
        assert (answer.status, await answer.json()) == (200, {})
    encoded = "form-data; name=\"file\"; filename*=UTF-8''%E2%82%AC%20rates.txt"
    whole = WHOLE.replace(DISPOSITION, f"Content-Disposition: {encoded}\r\n".encode())
    assert (await sent(client, ticket_id, form()[0], whole)).status == 200
    assert await names(client, ticket_id) == ["na\u00efve.png", "\u20ac rates.txt"]


async def test_two_files_of_one_name(client: Client, roost: Roost, ticket_id: int) -> None:
    for content in (b"first", b"second"):
        assert (await attached(client, ticket_id, FormPart("a.txt", content))).status == 200
    store = roost.engines.of(ATTACHMENT_PLANE)
    rows = await queries.attachments_of(roost.store, ticket_id)
    assert [await store.get(row.key) for row in rows] == [b"first", b"second"]
    assert await names(client, ticket_id) == ["a.txt", "a.txt"]


async def test_the_same_key_attaches_once(client: Client, ticket_id: int, folder: Path) -> None:
    content_type, data = form(FILE)
    path = f"{TICKETS}/{ticket_id}/attachments"
    before = stored(folder)
    key = {"Idempotency-Key": "once"}
    other = "another-boundary"  # Libraries make one up for each attempt.
    forms = [(content_type, data)] * 2
    forms.append(
        (content_type.replace(BOUNDARY, other), data.replace(BOUNDARY.encode(), other.encode()))
    )
    for form_type, body in forms:
        headers = {**key, "Content-Type": form_type}
        answer = await client.send("POST", path, headers=headers, data=body)
        assert (answer.status, answer.body) == (200, {})
    content_type, data = form(FormPart("a.txt", b"y"))
    answer = await client.send(
        "POST", path, headers={**key, "Content-Type": content_type}, data=data
    )
    assert answer.problems == [("Idempotency-Key", "This key was used for another request")]
    assert await names(client, ticket_id) == ["a.txt"]
    assert len(stored(folder) - before) == 1


async def test_closed_and_full_tickets_take_none(
    client: Client, roost: Roost, ticket_id: int, folder: Path
) -> None:
    await roost.store.execute(
        "insert into ticket_attachment (ticket_id, key, name, size, created, created_by)"
        " select $1, gen_random_uuid()::text, 'x.txt', 1, now(), 'x' from generate_series(1, $2)",
        ticket_id,
        rules.MAX_FILES,
    )
    before = stored(folder)
    answer = await attached(client, ticket_id, FILE)
    assert answer.problems == [(None, "A ticket can have 100 attachments at most.")]
    await client.post(f"{TICKETS}/{ticket_id}/close")
    answer = await attached(client, ticket_id, FILE)
    assert answer.problems == [(None, "This ticket is closed.")]
    assert stored(folder) == before
    await roost.store.execute("delete from ticket_attachment where ticket_id = $1", ticket_id)


@pytest.mark.spec("A errors 4")
async def test_an_account_can_fill_no_disk(
    client: Client, stranger: Client, roost: Roost, folder: Path
) -> None:
    """What all its tickets have counts, also the closed ones; other accounts are not held up."""
    ids = [(await client.post(TICKETS, BODY))["id"] for _ in range(2)]
    await roost.store.execute(
        "insert into ticket_attachment (ticket_id, key, name, size, created, created_by)"
        " values ($1, gen_random_uuid()::text, 'x.txt', $2, now(), 'x')",
        ids[0],
        roost.settings.attachments_quota - 1,
    )
    await client.post(f"{TICKETS}/{ids[0]}/close")
    before = stored(folder)
    answer = await attached(client, ids[1], FormPart("b.txt", b"xx"))
    reason = "The attachments of this account have reached their limit. Please ask support."
    assert (answer.status, answer.problems) == (400, [(None, reason)])
    assert stored(folder) == before
    assert (await attached(client, ids[1], FILE)).status == 200
    theirs = (await stranger.post(TICKETS, BODY))["id"]
    assert (await attached(stranger, theirs, FormPart("b.txt", b"xx"))).status == 200
    await roost.store.execute("delete from ticket_attachment where ticket_id = $1", ids[0])


async def test_another_accounts_ticket(
    client: Client, stranger: Client, ticket_id: int, folder: Path
) -> None:
    before = stored(folder)
    for parts in ([FILE], [FILE, FILE], [FormPart("a.exe", b"x")]):
        assert (await attached(stranger, ticket_id, *parts)).status == 404
    await nothing_happened(client, ticket_id, folder, before)


@pytest.fixture
async def alone(tmp_path: Path, database_url: str) -> AsyncIterator[Roost]:
    async with running_roost(simulated(tmp_path, database_url)) as running:
        yield running.roost


async def make_ticket(roost: Roost) -> Ticket:
    account_id = await roost.store.fetchval("select min(id) from account")
    new = queries.NewTicket(
        account_id, "support", "x", "y", None, None, "admin", None, "0" * 32, True
    )
    ticket_id = await queries.insert(roost.store, new, roost.clock.seconds())
    ticket = await queries.find(roost.store, ticket_id)
    assert ticket is not None
    return ticket


async def fsck(roost: Roost, repair: bool = False) -> list[str]:
    lines: list[str] = []
    outcome = await check_all(roost, repair, lines.append)
    return [*lines, str(outcome)]


async def test_fsck(alone: Roost) -> None:
    ticket, store = await make_ticket(alone), alone.engines.of(ATTACHMENT_PLANE)
    folder = alone.settings.state / "attachments"
    now, keys = alone.clock.seconds(), [f"{n:032x}" for n in range(5)]
    assert await fsck(alone) == ["clean"]
    for key in keys:
        await store.put(key, b"hello")
    for key in keys[:3]:
        await queries.insert_attachment(alone.store, ticket.id, key, "\x1b.txt", 5, "admin", now)
    assert await fsck(alone) == ["clean"], "files that may be waiting for their rows"

    (folder / keys[0]).unlink()
    (folder / keys[1]).write_bytes(b"hell")
    (folder / keys[4]).rename(folder / f".draft-{keys[4]}")
    (folder / "README").write_text("not ours")
    for path in folder.iterdir():
        os.utime(path, (time.time() - 3600,) * 2)
    ids = [row.id for row in await queries.attachments_of(alone.store, ticket.id)]
    lost = [
        f"attachment {ids[0]} ('\\x1b.txt') of ticket {ticket.id} has no file",
        f"attachment {ids[1]} ('\\x1b.txt') of ticket {ticket.id} has 5 bytes, but its file 4",
    ]
    left = [
        f"the file {key} belongs to no attachment of a ticket"
        for key in (f".draft-{keys[4]}", keys[3])
    ]
    assert await fsck(alone) == [*lost, *left, "4 found, 0 repaired"]
    assert await fsck(alone, repair=True) == [
        *[
            f"{text}; not repaired: restore {key} from a backup"
            for text, key in zip(lost, keys, strict=False)
        ],
        *[f"{text}; deleted it" for text in left],
        "4 found, 2 repaired",
    ]
    assert stored(folder) == {keys[1], keys[2], "README"}


async def test_a_file_whose_row_comes_late_stays(alone: Roost) -> None:
    ticket, store = await make_ticket(alone), alone.engines.of(ATTACHMENT_PLANE)
    key = "a" * 32
    await store.put(key, b"hello")
    path = alone.settings.state / "attachments" / key
    os.utime(path, (time.time() - 3600,) * 2)
    installation = Installation(alone.store, alone.services)
    (finding,) = [found async for found in check_attachments(installation)]
    await queries.insert_attachment(
        alone.store, ticket.id, key, "a.txt", 5, "x", alone.clock.seconds()
    )
    assert await finding.repair() == "it has one by now"
    assert path.exists()


async def test_a_full_or_broken_disk(
    client: Client, ticket_id: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    before = stored(folder)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        answer = await attached(client, ticket_id, FILE)
    assert answer.status == 503
    reason = "Attachments cannot be stored now. Please try again later."
    assert answer.problems == [(None, reason)]
    await nothing_happened(client, ticket_id, folder, before)
