"""systemd as process 1 of namespaces of its own, on a copy of this machine that is thrown away.

What units do there (users, files, mounts, networks) nobody else sees.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_SECONDS = 120.0
_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
_IN_IT = ("nsenter", "--all", "--root", "--wd")

# Of this machine's own services none is started, and nothing of its files is tidied up.
_BOOT = """
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t sysfs sysfs sys
for place in run etc/systemd/system sys/fs/cgroup; do mount -t tmpfs tmpfs "$place"; done
mkdir -p run/lock sys/fs/cgroup/systemd
mount -t cgroup2 cgroup2 sys/fs/cgroup 2>/dev/null ||
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
for unit in tmpfiles-setup tmpfiles-setup-dev update-utmp udevd udev-trigger; do
    ln -s /dev/null "etc/systemd/system/systemd-$unit.service"
done
printf '[Unit]\\nRequires=dbus.socket\\n' >etc/systemd/system/test.target
ip link set lo up
exec chroot . env -i container=test PATH="$PATH" /lib/systemd/systemd --system --unit=test.target
"""


@dataclass(frozen=True)
class Machine:
    """`pid`: of its process 1, as seen from outside."""

    pid: int

    def run(self, *command: str | Path, feed: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*_IN_IT, f"--target={self.pid}", "--", *command],
            input=feed,
            env=_ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )

    def said(self, *command: str | Path) -> str:
        """What a command prints that succeeds."""
        done = self.run(*command)
        if done.returncode != 0:
            journal = self.run("journalctl", "--no-pager", "--lines=30").stdout
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}\n{journal}")
        return done.stdout.strip()

    def write(self, path: str, text: str) -> None:
        done = self.run("sh", "-c", f"mkdir -p $(dirname {path}) && cat >{path}", feed=text)
        assert done.returncode == 0, done.stderr

    def open_to_all(self, path: Path) -> None:
        """Let each user come as far as to this path, on the copy."""
        self.said("chmod", "o+x", *(str(parent) for parent in path.resolve().parents))

    def until(self, wanted: str, *command: str) -> None:
        """Returns when a command prints this."""
        deadline = time.monotonic() + _SECONDS
        while (done := self.run(*command)).stdout.strip() != wanted:
            assert time.monotonic() < deadline, (command, done.stdout, done.stderr)
            time.sleep(0.2)


@contextmanager
def booted(folder: Path) -> Iterator[Machine]:
    """`folder` is empty. Skips where there can be no such machine."""
    if os.geteuid() != 0 or shutil.which("systemd-run") is None:
        pytest.skip("systemd is started by root, where it is installed")
    apart = ("--pid", "--fork", "--mount", "--ipc", "--uts", "--cgroup", "--net", "--mount-proc")
    log = folder.with_suffix(".log")
    with log.open("w") as output:
        process = subprocess.Popen(
            ["unshare", *apart, "--kill-child=KILL", "sh", "-c", _BOOT, "boot", folder],
            stdout=output,
            stderr=output,
        )
    try:
        yield _awaited(process, log)
    finally:
        process.kill()
        process.wait()


def _awaited(process: "subprocess.Popen[bytes]", log: Path) -> Machine:
    """Once systemd answers."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.skip(f"systemd cannot be started here: {log.read_text()[-500:]}")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children:
            machine = Machine(int(children[0]))
            if machine.run("systemctl", "is-active", "test.target").stdout.strip() == "active":
                return machine
        time.sleep(0.2)
    raise AssertionError(f"systemd does not answer: {log.read_text()[-2000:]}")
