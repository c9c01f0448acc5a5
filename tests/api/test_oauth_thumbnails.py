"""Thumbnails of OAuth clients: sound PNG and JPEG files of a modest size, and nothing else."""

import io
import struct
import zlib
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from roost.errors import ApiError
from roost.resources.account.queries import find_operator
from roost.resources.oauth_clients.service import decode_thumbnail
from tests.support.apps import let_in
from tests.support.client import Answer, Client, Contract
from tests.support.oauth import register
from tests.support.pictures import picture
from tests.support.server import running_roost, simulated

CLIENTS = "/account/oauth-clients"
NO_IMAGE = [(None, "The body must be a PNG or JPEG image")]


@pytest.fixture
async def path(client: Client) -> str:
    body = {"label": "app", "redirect_uri": "https://app.example.com"}
    return f"{CLIENTS}/{(await client.post(CLIENTS, body))['id']}"


async def upload(client: Client, path: str, data: bytes, media_type: str = "image/png") -> Answer:
    headers = {"Content-Type": media_type}
    return await client.send("PUT", f"{path}/thumbnail", headers=headers, data=data)


def decoded(raw: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(raw), formats=("PNG",))
    image.load()
    return image


@pytest.mark.spec("B auth 4", "B oauth-clients thumbnail view", "B oauth-clients thumbnail update")
async def test_everybody_sees_it(client: Client, nobody: Client, path: str) -> None:
    assert (await nobody.send("GET", f"{path}/thumbnail")).status == 404
    assert (await client.get(path))["thumbnail_url"] is None
    assert (await upload(client, path, picture())).body == {}
    shown = await nobody.send("GET", f"{path}/thumbnail")
    assert (shown.status, shown.headers["Content-Type"]) == (200, "image/png")
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert shown.headers["Content-Security-Policy"] == "default-src 'none'"
    assert decoded(shown.raw).size == (8, 8)
    url = (await client.get(path))["thumbnail_url"]
    assert url == f"/v4{path}/thumbnail"
    await client.delete(path)
    assert (await nobody.send("GET", f"{path}/thumbnail")).status == 404


async def test_its_address_is_whole_where_that_is_known(tmp_path: Path, database_url: str) -> None:
    """In the records of clients and of apps."""
    settings = simulated(tmp_path, database_url, public_url="https://cloud's.example.com")
    async with running_roost(settings) as running, aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        client = Client(session, contract, running.url).as_user(running.token)
        app = await register(client)
        path = f"{CLIENTS}/{app.id}"
        await upload(client, path, picture())
        user_id = await find_operator(running.roost.store)
        assert user_id is not None
        await let_in(running.roost, user_id, app.id)
        whole = f"https://cloud's.example.com/v4{path}/thumbnail"
        assert (await client.get(path))["thumbnail_url"] == whole
        for listing in (CLIENTS, "/profile/apps"):
            (row,) = (await client.get(listing))["data"]
            assert row["thumbnail_url"] == whole


async def test_a_change_is_an_event(client: Client, path: str) -> None:
    await upload(client, path, picture())
    events = (await client.get("/account/events"))["data"]
    assert [e["action"] for e in events] == ["oauth_client_update", "oauth_client_create"]


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "P", "1", "I;16"])
async def test_kinds_of_png(client: Client, path: str, mode: str) -> None:
    assert (await upload(client, path, picture(mode=mode))).status == 200
    assert decoded((await client.send("GET", f"{path}/thumbnail")).raw).mode == "RGBA"


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
async def test_kinds_of_jpeg(client: Client, path: str, mode: str) -> None:
    assert (await upload(client, path, picture(kind="JPEG", mode=mode), "image/jpeg")).status == 200
    assert decoded((await client.send("GET", f"{path}/thumbnail")).raw).size == (8, 8)


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((1, 1), (1, 1)),
        ((128, 128), (128, 128)),
        ((256, 128), (128, 64)),
        ((2048, 2048), (128, 128)),
        ((1, 2048), (1, 128)),
    ],
)
async def test_large_images_are_scaled_down(
    client: Client, path: str, size: tuple[int, int], shown: tuple[int, int]
) -> None:
    assert (await upload(client, path, picture(*size))).status == 200
    assert decoded((await client.send("GET", f"{path}/thumbnail")).raw).size == shown


async def test_nothing_of_the_upload_but_the_picture_is_kept(client: Client, path: str) -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "canary-in-a-comment")
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "PNG", pnginfo=notes)
    raw = file.getvalue() + b"<script>canary-at-the-end</script>"
    assert (await upload(client, path, raw)).status == 200
    assert b"canary" not in (await client.send("GET", f"{path}/thumbnail")).raw


@pytest.mark.parametrize("size", [(2049, 1), (1, 2049), (30000, 30000)])
async def test_bombs_are_not_unpacked(client: Client, path: str, size: tuple[int, int]) -> None:
    answer = await upload(client, path, bomb(*size))
    reason = "The image must not be larger than 2048x2048 pixels"
    assert answer.problems == [(None, reason)]
    assert (await client.get(path))["thumbnail_url"] is None


def bomb(width: int, height: int) -> bytes:
    """A PNG that is tiny and says that it is huge."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


async def test_texts_in_images_are_not_unpacked(client: Client, path: str) -> None:
    notes = PngImagePlugin.PngInfo()
    for n in range(70):
        notes.add_text(f"Comment{n}", "0" * 1_000_000, zip=True)
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "PNG", pnginfo=notes)
    assert (await upload(client, path, file.getvalue())).problems == NO_IMAGE


@pytest.mark.parametrize("kind", ["GIF", "BMP", "TIFF", "WEBP", "ICO"])
async def test_other_formats(client: Client, path: str, kind: str) -> None:
    assert (await upload(client, path, picture(kind=kind))).problems == NO_IMAGE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        picture(64, 64)[:-30],
        picture(64, 64, "JPEG")[:300],
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"<!doctype html><script>alert(1)</script>",
        b"GIF89a" + picture(),
    ],
)
async def test_what_is_no_image(client: Client, path: str, data: bytes) -> None:
    assert (await upload(client, path, data)).problems == NO_IMAGE
    assert (await client.get(path))["thumbnail_url"] is None


@pytest.mark.parametrize(
    "media_type", ["image/svg+xml", "text/html", "application/json", "image/gif", ""]
)
async def test_other_media_types(client: Client, path: str, media_type: str) -> None:
    answer = await upload(client, path, picture(), media_type)
    assert (answer.status, answer.problems) == (
        415,
        [(None, "Content-Type must be image/png or image/jpeg")],
    )


async def test_uploads_that_are_too_long(client: Client, path: str) -> None:
    answer = await upload(client, path, picture() + bytes(1024 * 1024))
    assert answer.status == 413


@given(at=st.integers(0, 3000), by=st.integers(1, 255), kind=st.sampled_from(["PNG", "JPEG"]))
@settings(max_examples=150)
def test_broken_files_are_refused_or_read(at: int, by: int, kind: str) -> None:
    raw = bytearray(picture(40, 40, kind))
    raw[at % len(raw)] ^= by
    try:
        made = decode_thumbnail(bytes(raw))
    except ApiError:
        return
    assert max(decoded(made).size) <= 128
