"""A new volume in a guest that runs: through the API, and by hand with qemu-img and QMP.

By hand there is neither a row nor a job nor an event, and nobody is asked whether it may be.
"""

import asyncio
import http.client
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import click

from bench import machine
from bench.guest import CATALOG, IMAGES, await_login, body_of
from bench.results import Result
from roost.app.images import build_image
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import ImageStore

_ROUNDS = 15
_GIB = 20
_POLL_SECONDS = 0.003
_PAUSE_SECONDS = 0.3
"""Until what was deleted is gone, and the guest has seen it."""


async def measure() -> AsyncIterator[Result]:
    """Both are done when the guest has the device."""
    if os.geteuid() != 0:
        click.echo("attach: skipped, as virtual machines with networks need root")
        return
    await build_image(ImageStore(IMAGES), MINI.id, click.echo, again=False)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        by_hand, by_api = await asyncio.to_thread(_compare, Path(folder))
    note = f"ms: by hand {by_hand * 1000:.0f}, through the API {by_api * 1000:.0f}"
    yield Result("create and attach a volume: of by hand", by_api / by_hand, "x", 1.5, note=note)


def _compare(folder: Path) -> tuple[float, float]:
    key, state, catalog = folder / "key", folder / "state", folder / "catalog.toml"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    catalog.write_text(CATALOG)
    command = [machine.program("roost"), "serve", "--engines", "local", "--state", str(state)]
    command += ["--catalog", str(catalog), "--listen", "127.0.0.1:0"]
    environment = {"ROOST_IMAGES": str(IMAGES.absolute()), "ROOST_RATE_LIMIT_SCALE": "0"}
    try:
        with machine.running(command, "roost ready", None, environment) as (_, line):
            api = Api(line.split()[-1], (state / "admin.token").read_text().strip())
            instance = api.send("POST", "/compute/instances", body_of(key))
            await_login(instance["ipv4"][0], key)
            api.await_status(f"/compute/instances/{instance['id']}", "running")
            monitor = next(state.glob(f"qemu/*/**/compute-{instance['id']}/qmp.sock"))
            rounds = [
                (_by_hand(monitor, folder, number), api.attach(instance["id"], number))
                for number in range(_ROUNDS)
            ]
    finally:
        subprocess.run([machine.program("roost"), "down", "--state", state], check=True)
    return median(hand for hand, _ in rounds), median(api for _, api in rounds)


def _by_hand(monitor: Path, folder: Path, number: int) -> float:
    """With the very calls of the engine, which looks first at what the guest has."""
    name, fd_set = f"hand-{number}", 1000 + number
    file = folder / "hand" / name / "data.raw"
    began = time.monotonic()
    file.parent.mkdir(parents=True)
    subprocess.run(["qemu-img", "create", "-q", "-f", "raw", file, f"{_GIB}G"], check=True)
    for path in (file, file.parent, file.parent.parent, folder):
        _sync(path)
    with _Monitor(monitor) as qmp:
        qmp.execute("qom-list", {"path": "/machine/peripheral"})
        qmp.execute("query-named-block-nodes", {"flat": True})
        qmp.execute("query-fdsets", {})
        qmp.pass_file(file, fd_set)
        node = {"driver": "file", "filename": f"/dev/fdset/{fd_set}"}
        qmp.execute("blockdev-add", {"driver": "raw", "node-name": name, "file": node})
        place = {"bus": "scsi0.0", "scsi-id": 0, "lun": 40}
        identity = {"vendor": "Roost", "product": "Volume", "device_id": f"hand{number}"}
        device = {"driver": "scsi-hd", "id": name, "drive": name, **place, **identity}
        qmp.execute("device_add", device)
        took = time.monotonic() - began
        qmp.execute("device_del", {"id": name})
        qmp.await_event("DEVICE_DELETED")
        qmp.execute("blockdev-del", {"node-name": name})
    file.unlink()
    return took


def _sync(path: Path) -> None:
    """So that it is there after a power cut, as the engine sees to too."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class _Monitor:
    """QMP, as anybody would speak it who has a socket and a JSON library."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> "_Monitor":
        self._lines.readline()
        self.execute("qmp_capabilities", {})
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self._socket.close()

    def execute(self, command: str, arguments: dict[str, Any]) -> None:
        request = {"execute": command, "arguments": arguments}
        self._socket.sendall(json.dumps(request).encode())
        while "event" in (answer := json.loads(self._lines.readline())):
            pass
        if "error" in answer:
            raise RuntimeError(answer["error"])

    def pass_file(self, file: Path, fd_set: int) -> None:
        with file.open("r+b") as opened:
            socket.send_fds(self._socket, [b" "], [opened.fileno()])
            self.execute("add-fd", {"fdset-id": fd_set})

    def await_event(self, name: str) -> None:
        while json.loads(self._lines.readline()).get("event") != name:
            pass


class Api:
    def __init__(self, url: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def attach(self, compute_id: int, number: int) -> float:
        """Seconds from the request for a volume until the instance has it."""
        began = time.monotonic()
        body = {"label": f"bench{number}", "size": _GIB, "compute_id": compute_id}
        path = f"/volumes/{self.send('POST', '/volumes', body)['id']}"
        self.await_status(path, "active")
        took = time.monotonic() - began
        self.send("POST", f"{path}/detach")
        while self.send("GET", path)["compute_id"] is not None:
            time.sleep(_POLL_SECONDS)
        self.send("DELETE", path)
        time.sleep(_PAUSE_SECONDS)
        return took

    def await_status(self, path: str, status: str) -> None:
        while self.send("GET", path)["status"] != status:
            time.sleep(_POLL_SECONDS)

    def send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body)
        self._connection.request(method, f"/v4{path}", data, self._headers)
        response = self._connection.getresponse()
        answer: dict[str, Any] = json.load(response)
        if response.status != 200:
            raise RuntimeError(f"{method} {path}: {answer}")
        return answer
