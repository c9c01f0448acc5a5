"""Images of real guests: upload, capture and deployment, against the tools that do such by hand."""

import os
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from statistics import median

import click

from bench import machine
from bench.attach import Api
from bench.guest import CATALOG, IMAGES
from bench.results import Result
from roost.app.images import build_image
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import ImageStore
from roost.threads import DISK

_MB = 1024 * 1024
_DISK = 384
"""MB; a quarter of them zeros, a quarter of random bytes, the rest between."""
_ROUNDS = 3
_POLL_SECONDS = 0.005
_PLAN = CATALOG.replace("disk = 256", "disk = 1024")


async def measure() -> AsyncIterator[Result]:
    """What the API does is done when the record says so."""
    if os.geteuid() != 0:
        click.echo("images: skipped, as virtual machines need root")
        return
    await build_image(ImageStore(IMAGES), MINI.id, click.echo, again=False)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        for result in await DISK.run(lambda: list(_measure(Path(folder)))):
            yield result


def _measure(folder: Path) -> Iterator[Result]:
    disk, packed = folder / "disk.raw", folder / "disk.raw.gz"
    _write(disk)
    with packed.open("wb") as file:
        subprocess.run(["gzip", "-1", "-c", disk], check=True, stdout=file)
    state, catalog = folder / "state", folder / "catalog.toml"
    catalog.write_text(_PLAN)
    command = [machine.program("roost"), "serve", "--engines", "local", "--state", str(state)]
    command += ["--catalog", str(catalog), "--listen", "127.0.0.1:0"]
    environment = {"ROOST_IMAGES": str(folder / "images"), "ROOST_RATE_LIMIT_SCALE": "0"}
    subprocess.run(["cp", "-a", IMAGES, folder / "images"], check=True)
    try:
        with machine.running(command, "roost ready", None, environment) as (pid, line):
            api = Api(line.split()[-1], (state / "admin.token").read_text().strip())
            image, results = _upload(api, pid, packed)
            yield from results
            yield from _capture(api, state, folder, image)
            yield _deploy(api, image)
    finally:
        subprocess.run([machine.program("roost"), "down", "--state", state], check=True)


def _write(disk: Path) -> None:
    text = b"".join(b"%012d " % number for number in range(_MB // 13))
    with disk.open("wb") as file:
        for number in range(_DISK):
            kinds = (bytes(_MB), os.urandom(_MB), text, text[number:] + os.urandom(_MB // 8))
            file.write(kinds[number % 4].ljust(_MB, b"\1")[:_MB])
        file.seek(510)
        file.write(b"\x55\xaa")


def _upload(api: Api, pid: int, packed: Path) -> tuple[str, list[Result]]:
    """The image's id."""
    began = time.monotonic()
    subprocess.run(f"cat '{packed}' | gzip -t", shell=True, check=True)
    by_hand = time.monotonic() - began
    made = api.send("POST", "/images/upload", {"label": "bench", "region": "bench"})
    with _Memory(pid) as memory:
        began = time.monotonic()
        _put(made["upload_to"], packed)
        took = time.monotonic() - began
    _await(api, f"/images/{made['image']['id']}", "available")
    note = f"s: cat | gzip -t {by_hand:.2f}, PUT {took:.2f}"
    speed = Result("upload: speed, of cat | gzip -t", by_hand / took, "", 0.8, "at least", note)
    grown = Result("upload: memory of the server, grown by", memory.grown, "MB", 32)
    return made["image"]["id"], [speed, grown]


def _put(url: str, packed: Path) -> None:
    with packed.open("rb") as file:
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(packed.stat().st_size),
        }
        request = urllib.request.Request(url, data=file, headers=headers, method="PUT")
        with urllib.request.urlopen(request) as answer:
            answer.read()


def _capture(api: Api, state: Path, folder: Path, image: str) -> Iterator[Result]:
    instance = _instance(api, image)
    [disk, *_] = api.send("GET", f"{instance}/disks")["data"]
    file = next(state.glob(f"qemu/**/*disk-{disk['id']}*/*.qcow2"), None) or next(
        state.glob(f"qemu/**/disk-{disk['id']}*.qcow2")
    )
    times = []
    for number in range(_ROUNDS):
        target = folder / f"by-hand-{number}.qcow2"
        began = time.monotonic()
        options = ("-c", "-f", "qcow2", "-O", "qcow2")
        subprocess.run(("qemu-img", "convert", *options, file, target), check=True)
        by_hand = time.monotonic() - began
        target.unlink()
        began = time.monotonic()
        made = api.send("POST", "/images", {"disk_id": disk["id"]})
        _await(api, f"/images/{made['id']}", "available")
        times.append((by_hand, time.monotonic() - began))
        api.send("DELETE", f"/images/{made['id']}")
    by_hand, by_api = (median(each[side] for each in times) for side in (0, 1))
    note = f"s: by hand {by_hand:.2f}, through the API {by_api:.2f}"
    yield Result("capture: of qemu-img convert", by_api / by_hand, "x", 1.3, note=note)
    api.send("DELETE", instance)


def _deploy(api: Api, image: str) -> Result:
    times = []
    for _ in range(_ROUNDS):
        pair = []
        for each in (MINI.id, image):
            began = time.monotonic()
            instance = _instance(api, each)
            pair.append(time.monotonic() - began)
            api.send("DELETE", instance)
        times.append(pair)
    public, private = (median(each[side] for each in times) for side in (0, 1))
    note = f"s: public {public:.3f}, private {private:.3f}"
    name = "instance of a private image: of a public one"
    return Result(name, private / public, "x", 1.1, note=note)


def _instance(api: Api, image: str) -> str:
    """The path of a new one, once it is made."""
    body = {
        "region": "bench",
        "type": "bench",
        "image": image,
        "root_pass": "aComplex@Password-7391",
        "swap_size": 0,
        "booted": False,
    }
    path = f"/compute/instances/{api.send('POST', '/compute/instances', body)['id']}"
    _await(api, path, "offline")
    return path


def _await(api: Api, path: str, status: str) -> None:
    while api.send("GET", path)["status"] != status:
        time.sleep(_POLL_SECONDS)


class _Memory:
    """By how many MB a process grows meanwhile."""

    def __init__(self, pid: int) -> None:
        self._pid, self.grown = pid, 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "_Memory":
        self._before = machine.memory_megabytes(self._pid)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.05):
            self.grown = max(self.grown, machine.memory_megabytes(self._pid) - self._before)
