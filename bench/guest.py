"""From the wish for a real guest to a login: through the API, and by hand."""

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path
from statistics import median
from typing import Any

import click

from bench import machine
from bench.results import Result
from roost.app.images import build_image
from roost.engines.qemu.host.kvm import accelerator
from roost.engines.qemu.images.mini import MINI
from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.network.config import NetworkConfig
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import DiskDevice, GuestSetup, InstanceSpec
from roost.resources.compute.network_engine import GuestAddress

_ROUNDS = 3
IMAGES = Path(".roost/images")
_POLL_SECONDS = 0.02
_BOOT_SECONDS = 120
_GATEWAY = IPv4Interface("203.0.113.129/25")
_GATEWAY6 = IPv6Interface("2001:db8:be7c:1::1/64")
CATALOG = """
kernels = []

[[regions]]
id = "bench"
label = "Bench"
country = "us"
engine = "local"
capabilities = ["Computes", "Block Storage"]
resolvers = { ipv4 = [], ipv6 = [] }
public_ipv4 = [{ cidr = "203.0.113.0/25", gateway = "203.0.113.1" }]
private_ipv4 = ["192.168.224.0/24"]
ipv6 = { cidr = "2001:db8:be7c::/64", gateway = "2001:db8:be7c::1" }

[[compute_types]]
id = "bench"
label = "Bench"
class = "nanode"
vcpus = 1
memory = 128
disk = 256
transfer = 1000
network_out = 1000
price = { hourly = 0.01, monthly = 1.0 }
addons.backups.price = { hourly = 0.01, monthly = 1.0 }

[[images]]
id = "roost/mini"
label = "Mini"
vendor = "Roost"
description = ""
size = 64
created = 2026-01-01T00:00:00
"""


async def measure() -> AsyncIterator[Result]:
    """By hand is: from the start of QEMU on disks and a network that are there already."""
    if os.geteuid() != 0:
        click.echo("guest: skipped, as virtual machines with networks need root")
        return
    images = ImageStore(IMAGES)
    await build_image(images, MINI.id, click.echo, again=False)
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        key = Path(folder, "key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        by_hand, by_api = await _compare(Path(folder), images, key)
    note = f"s: by hand {by_hand:.2f}, through the API {by_api:.2f}"
    yield Result("create to SSH login: of by hand", by_api / by_hand, "x", 1.3, note=note)


async def _compare(folder: Path, images: ImageStore, key: Path) -> tuple[float, float]:
    network = NetworkConfig((_GATEWAY,), _GATEWAY6)
    engine = QemuInstances(folder / "hand", images, network, await accelerator())
    state = folder / "state"
    catalog = folder / "catalog.toml"
    catalog.write_text(CATALOG)
    command = [machine.program("roost"), "serve", "--engines", "local", "--state", str(state)]
    command += ["--catalog", str(catalog), "--listen", "127.0.0.1:0"]
    environment = {"ROOST_IMAGES": str(IMAGES.absolute())}
    times: list[tuple[float, float]] = []
    try:
        with machine.running(command, "roost ready", None, environment) as (_, line):
            api = _Api(line.split()[-1], (state / "admin.token").read_text().strip())
            for number in range(_ROUNDS):
                times.append((await _by_hand(engine, 100_000 + number, key), api.boot(key)))
    finally:
        # Whoever interrupts it is left with no guest and no network either.
        subprocess.run([machine.program("roost"), "down", "--state", state], check=True)
        await engine.shut_down()
    return median(hand for hand, _ in times), median(api for _, api in times)


async def _by_hand(engine: QemuInstances, number: int, key: Path) -> float:
    address = _GATEWAY.network[number % 100 + 10]
    setup = GuestSetup("bench", None, (key.with_suffix(".pub").read_text().strip(),), None)
    spec = InstanceSpec(
        id=number,
        vcpus=1,
        memory=128,
        mac=f"52:00:00:00:00:{number % 256:02x}",
        ipv4=(GuestAddress(IPv4Interface((address, _GATEWAY.network.prefixlen)), _GATEWAY.ip),),
        ipv6=None,
        setup=setup,
        devices=(DiskDevice("sda", 1), DiskDevice("sdb", 2)),
        root="sda",
    )
    await engine.disks.make(DiskSpec(1, number, 240, "ext4", MINI.id))
    await engine.disks.make(DiskSpec(2, number, 16, "swap"))
    began = time.monotonic()
    await engine.start(spec)
    await_login(str(address), key)
    took = time.monotonic() - began
    await engine.delete(number)
    return took


def body_of(key: Path) -> dict[str, object]:
    """Of a request for a guest that lets the key's owner in."""
    return {
        "region": "bench",
        "type": "bench",
        "image": MINI.id,
        "root_pass": "aComplex@Password-7391",
        "authorized_keys": [key.with_suffix(".pub").read_text().strip()],
        "swap_size": 16,
    }


class _Api:
    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url}/v4/compute/instances"
        self._token = token

    def boot(self, key: Path) -> float:
        """Seconds from the request for a guest until it lets us in."""
        began = time.monotonic()
        made = self._send("POST", "", body_of(key))
        await_login(made["ipv4"][0], key)
        took = time.monotonic() - began
        self._send("DELETE", f"/{made['id']}")
        return took

    def _send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        request = urllib.request.Request(
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request) as response:
            answer: dict[str, Any] = json.load(response)
        return answer


def await_login(address: str, key: Path) -> None:
    """First wait for a greeting, as a login that comes too early would wait for long."""
    deadline = time.monotonic() + _BOOT_SECONDS
    while not (_greets(address) and _logs_in(address, key)):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{address} lets nobody in")
        time.sleep(_POLL_SECONDS)


def _greets(address: str) -> bool:
    try:
        with socket.create_connection((str(address), 22), timeout=0.2) as connection:
            connection.settimeout(5)
            return connection.recv(3) == b"SSH"
    except OSError:
        return False


def _logs_in(address: str, key: Path) -> bool:
    options = ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    chosen = [part for option in (*options, "LogLevel=ERROR") for part in ("-o", option)]
    ssh = ["ssh", "-i", str(key), *chosen, f"root@{address}", "true"]
    return subprocess.run(ssh, check=False, stdout=subprocess.DEVNULL).returncode == 0
