"""A plain QEMU for one guest, reached by SSH through user networking."""

import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roost.engines.qemu.images.setup import SWAP_LABEL, fw_cfg_files
from roost.engines.qemu.images.store import GuestImage
from roost.resources.compute.engine import InstanceSpec
from roost.resources.compute.network_engine import PublicLink

BOOT_SECONDS = 120.0
"""For a busy host; an idle one needs 4."""
ADDRESS = "10.0.2.15"
"""Where QEMU's user network expects its guest."""


@dataclass(frozen=True)
class Guest:
    """A guest that runs: its key's directory, and the port of 127.0.0.1 of its SSH server."""

    work: Path
    port: int

    def ssh(self, command: str) -> "subprocess.CompletedProcess[str]":
        options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes")
        flags = [f"-o{option}" for option in (*options, "LogLevel=ERROR", "ConnectTimeout=5")]
        address = ["-i", str(self.work / "key"), "-p", str(self.port), "root@127.0.0.1"]
        client = ["ssh", "-F", "none", *flags, *address, command]
        return subprocess.run(client, capture_output=True, text=True, timeout=BOOT_SECONDS)

    def run(self, command: str) -> str:
        result = self.ssh(command)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def becomes(self, test: str) -> None:
        """Returns when the command `test` succeeds in the guest."""
        eventually(lambda: self.ssh(test).returncode == 0)


@dataclass(frozen=True)
class Machine:
    """The disks and the key pair of one guest in `work`."""

    work: Path
    image: GuestImage

    @contextmanager
    def running(self, spec: InstanceSpec) -> Iterator[Guest]:
        """The guest is up and lets its key in; at the end of the block it is not any more."""
        (self.work / "qmp").unlink(missing_ok=True)
        process = subprocess.Popen(self._command(spec))
        try:
            eventually(lambda: process.poll() is not None or self._listens())
            guest = Guest(self.work, self._ssh_port())
            guest.becomes("true")
            yield guest
            self._ask("system_powerdown")
            process.wait(BOOT_SECONDS)
        finally:
            process.kill()
            process.wait()

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as monitor:
            return monitor.connect_ex(str(self.work / "qmp")) == 0

    def _ssh_port(self) -> int:
        """QEMU chooses it, so no other program can take it first."""
        network = self._ask("human-monitor-command", {"command-line": "info usernet"})
        port = re.search(r"HOST_FORWARD\S* +\d+ +127\.0\.0\.1 +(\d+)", network)
        assert port is not None, network
        return int(port[1])

    def _ask(self, command: str, arguments: dict[str, str] | None = None) -> str:
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self.work / "qmp"))
            with monitor.makefile("rwb", buffering=0) as lines:
                _exchange(lines, {"execute": "qmp_capabilities"})
                return _exchange(lines, {"execute": command, "arguments": arguments or {}})

    def _command(self, spec: InstanceSpec) -> list[str]:
        drive = "if=none,cache=writeback,format"
        return [
            *("qemu-system-x86_64", "-machine", "q35", "-cpu", "max", "-m", str(spec.memory)),
            *("-accel", "tcg,tb-size=64", "-display", "none", "-no-user-config", "-nodefaults"),
            *("-kernel", str(self.image.kernel), "-initrd", str(self.image.initrd)),
            *("-append", self.image.info.kernel_args),
            *("-serial", f"file:{self.work}/console"),
            *("-qmp", f"unix:{self.work}/qmp,server=on,wait=off"),
            *("-device", "virtio-scsi-pci,id=scsi0"),
            *("-drive", f"{drive}=qcow2,id=root,file={self.work}/root.qcow2"),
            *("-device", "scsi-hd,drive=root,bus=scsi0.0,lun=0"),
            *("-drive", f"{drive}=raw,id=swap,file={self.work}/swap"),
            *("-device", "scsi-hd,drive=swap,bus=scsi0.0,lun=1,device_id=one-two_3"),
            *_cards(spec),
            *self._items(spec),
        ]

    def _items(self, spec: InstanceSpec) -> Iterator[str]:
        for name, content in fw_cfg_files(spec).items():
            path = self.work / name.replace("/", "-")
            path.write_bytes(content)
            yield from ("-fw_cfg", f"name={name},file={path}")


def _cards(spec: InstanceSpec) -> Iterator[str]:
    """The public one leads to us, the others to nobody."""
    for number, link in enumerate(spec.links):
        public = isinstance(link, PublicLink)
        net = f"user,hostfwd=tcp:127.0.0.1:0-{ADDRESS}:22" if public else "hubport,hubid=1"
        mac = spec.mac if isinstance(link, PublicLink) else link.mac
        yield from ("-netdev", f"{net},id=net{number}")
        yield from ("-device", f"virtio-net-pci,netdev=net{number},romfile=,mac={mac}")


def _exchange(lines: socket.SocketIO, request: object) -> str:
    lines.write(json.dumps(request).encode())
    while b'"return"' not in (answer := lines.readline()):
        assert answer, "QEMU has ended"
    return answer.decode()


def new_machine(work: Path, image: GuestImage) -> Machine:
    """With an empty swap disk, a root disk of 512 MB and the key pair `key`."""
    key = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", work / "key")
    subprocess.run(key, check=True)
    root = ("-b", image.root, "-F", "qcow2", work / "root.qcow2", "512M")
    subprocess.run(("qemu-img", "create", "-q", "-f", "qcow2", *root), check=True)
    with (work / "swap").open("wb") as swap:
        swap.truncate(16 * 2**20)
    subprocess.run(("mkswap", "-q", "-L", SWAP_LABEL, work / "swap"), check=True)
    return Machine(work, image)


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + BOOT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)
