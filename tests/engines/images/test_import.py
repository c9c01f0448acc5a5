"""Importing: what is accepted, and that a foreign file cannot reach files of the host."""

import gzip
import hashlib
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from aiohttp import web

from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.importing import import_image
from roost.engines.qemu.images.store import GuestImage, ImageStore

IMAGE = "private/100001"
DISK = (b"\xfa" * 510 + b"\x55\xaa").ljust(2 * 1024 * 1024, b"\0")
PAGE = b"<!DOCTYPE html><title>Moved</title>".ljust(4096)


def qemu_img(*arguments: str | Path) -> None:
    subprocess.run(["qemu-img", *arguments], check=True)


def content(image: GuestImage, work: Path) -> bytes:
    qemu_img("convert", "-f", "qcow2", "-O", "raw", image.root, work / "content")
    return (work / "content").read_bytes()


async def bring(
    store: ImageStore, source: str | Path, max_bytes: int = 2**30, checksum: str | None = None
) -> GuestImage:
    await import_image(store, str(source), IMAGE, lambda _message: None, max_bytes, checksum)
    image = store.find(IMAGE)
    assert image is not None
    return image


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    file = tmp_path / "disk.img"
    file.write_bytes(DISK)
    return file


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[str]:
    """A web server for the files of `tmp_path`."""
    app = web.Application()
    app.router.add_static("/", tmp_path)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}"
    await runner.cleanup()


async def test_a_raw_file_boots_by_firmware(store: ImageStore, raw: Path, tmp_path: Path) -> None:
    image = await bring(store, raw)
    assert content(image, tmp_path) == DISK
    assert image.info.model_dump() == {
        "id": IMAGE,
        "boot": "firmware",
        "kernel_args": "",
        "setup": "nocloud",
        "cloud_init": True,
        "virtual_size": 2,
        "any_lun": False,
    }
    assert image.kernel is None
    assert image.initrd is None


async def test_a_qcow2_file(store: ImageStore, raw: Path, tmp_path: Path) -> None:
    source = tmp_path / "disk.qcow2"
    qemu_img("convert", "-f", "raw", "-O", "qcow2", raw, source)
    assert content(await bring(store, source), tmp_path) == DISK


async def test_a_gzip_file_of_several_members(store: ImageStore, tmp_path: Path) -> None:
    source = tmp_path / "disk.img.gz"
    source.write_bytes(gzip.compress(DISK[:5000]) + gzip.compress(DISK[5000:]))
    assert content(await bring(store, source), tmp_path) == DISK


async def test_a_file_from_the_web(
    store: ImageStore, raw: Path, server: str, tmp_path: Path
) -> None:
    assert content(await bring(store, f"{server}/{raw.name}"), tmp_path) == DISK
    with pytest.raises(ImageError, match="404"):
        await bring(store, f"{server}/absent")
    with pytest.raises(ImageError, match="larger than 1 MB"):
        await bring(store, f"{server}/{raw.name}", 2**20)


@pytest.mark.parametrize("name", ["sha256", "sha512"])
async def test_a_checksum_is_that_of_the_file(
    store: ImageStore, server: str, tmp_path: Path, name: str
) -> None:
    """As it is fetched: makers publish that of the packed one."""
    source = tmp_path / "disk.img.gz"
    source.write_bytes(gzip.compress(DISK))
    checksum = hashlib.new(name, source.read_bytes()).hexdigest()
    with pytest.raises(ImageError, match=checksum):
        await bring(store, source, checksum="0" * len(checksum))
    assert store.list() == []
    for place in (source, f"{server}/{source.name}"):
        assert content(await bring(store, place, checksum=checksum.upper()), tmp_path) == DISK


def with_backing_file(target: Path) -> None:
    qemu_img("create", "-f", "qcow2", "-u", "-b", "/etc/shadow", "-F", "raw", target, "1M")


def with_data_file(target: Path) -> None:
    data = target.with_name("data")
    qemu_img("create", "-f", "qcow2", "-o", f"data_file={data},data_file_raw=on", target, "1M")


def with_cut_gzip(target: Path) -> None:
    target.write_bytes(gzip.compress(DISK)[:-20])


def with_damaged_gzip(target: Path) -> None:
    target.write_bytes(b"\x1f\x8b\x08\x00" + b"\xff" * 100)


def with_inner_backing_file(target: Path) -> None:
    inner = target.with_name("inner")
    with_backing_file(inner)
    target.write_bytes(gzip.compress(inner.read_bytes()))


def with_huge_disk(target: Path) -> None:
    qemu_img("create", "-f", "qcow2", target, "1T")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (with_backing_file, "refers to another file"),
        (with_data_file, "refers to another file"),
        (with_inner_backing_file, "refers to another file"),
        (with_cut_gzip, "gzip file is damaged"),
        (with_damaged_gzip, "gzip file is damaged"),
        (with_huge_disk, "larger than 262144 MB"),
        (lambda target: target.write_bytes(b"QFI\xfb\0\0\0\3"), "cut short"),
        (lambda target: target.write_bytes(b"QFI\xfb" + b"\xff" * 4 + bytes(600)), "qemu-img"),
        (lambda target: target.write_bytes(b"KDMV" + bytes(600)), "neither qcow2 nor a raw disk"),
        (lambda target: target.write_bytes(PAGE), "neither qcow2 nor a raw disk that boots"),
        (lambda target: target.write_bytes(DISK[:511]), "neither qcow2 nor a raw disk"),
        (lambda target: target.write_bytes(b""), "neither qcow2 nor a raw disk"),
        (lambda target: target.mkdir(), "is not a file"),
        (lambda target: None, "is not a file"),
    ],
)
async def test_refusals_leave_nothing(
    store: ImageStore, tmp_path: Path, make: Callable[[Path], object], reason: str
) -> None:
    source = tmp_path / "source"
    make(source)
    with pytest.raises(ImageError, match=reason):
        await bring(store, source)
    assert store.list() == []
    assert [path for path in store.root.rglob("*") if path.is_file()] == []


async def test_what_unpacks_to_too_much_is_refused(store: ImageStore, tmp_path: Path) -> None:
    source = tmp_path / "bomb.gz"
    source.write_bytes(gzip.compress(bytes(4 * 2**20)))
    with pytest.raises(ImageError, match="larger than 1 MB"):
        await bring(store, source, 2**20)


async def test_a_bad_id_is_refused_before_anything_is_read(store: ImageStore) -> None:
    with pytest.raises(ImageError, match="is not an image id"):
        await import_image(store, "/absent", "../x", lambda _message: None)
