"""The commands of the README, as a newcomer copies them."""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from passlib.hash import sha512_crypt

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import check_sound
from tests.e2e.cloud import Cloud, opened
from tests.e2e.program import ROOT
from tests.e2e.region import Region, opened_region
from tests.engines.harness import until
from tests.engines.shell import Shell
from tests.support.client import Client, Json

_SECONDS = 240.0
_API, _TOKEN = "http://127.0.0.1:8080/v4", ".roost/admin.token"

_LOG_IN = r"""
ssh() {
    address=${!#}
    ip route get "${address#root@}" | grep -q " dev $DEVICE " || return 1
    command ssh -F none -i ~/.ssh/id_ed25519 -o BatchMode=yes -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "$@" 'echo "logged in to $(hostname)"'
}
"""
"""`ssh` with the newcomer's key, and only where the packets go to a guest."""


def readme_commands() -> str:
    """The block of shell commands under "Try it"."""
    section = (ROOT / "README.md").read_text().partition("## Try it")[2]
    found = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


@dataclass(frozen=True)
class Newcomer:
    """With a home that has no key yet."""

    home: Path
    cloud: Cloud

    async def types(self, commands: str, device: str = "") -> str:
        """What the commands print; all of them must succeed."""
        for mine, theirs in ((_API, f"{self.cloud.url}/v4"), (_TOKEN, self._token)):
            assert commands.count(mine) == 1
            commands = commands.replace(mine, theirs)
        (self.home / ".ssh").mkdir(mode=0o700, parents=True)
        bash = await asyncio.create_subprocess_exec(
            *("bash", "-e", "-c", _LOG_IN + commands),
            env={**os.environ, "HOME": str(self.home), "DEVICE": device},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, _ = await asyncio.wait_for(bash.communicate(), _SECONDS)
        finally:
            if bash.returncode is None:
                os.killpg(bash.pid, signal.SIGKILL)
        assert bash.returncode == 0, out.decode()
        return out.decode()

    @property
    def _token(self) -> str:
        return str(self.cloud.state / "admin.token")


async def test_a_simulated_region_answers_all_but_the_login(tmp_path: Path) -> None:
    commands, separator, login = readme_commands().partition("\nssh ")
    assert separator
    assert len(login.splitlines()) == 1
    async with opened(tmp_path / "state", engines="simulated", simulated_latency=1) as cloud:
        await cloud.start()
        printed = await Newcomer(tmp_path / "home", cloud).types(f"{commands}\necho at $IP")
        [row] = (await cloud.instances()).values()
        assert '"id": "roost/mini"' in printed
        assert printed.endswith(f"at {row['ipv4'][0]}\n")
        await check_sound(cloud, {row["id"]: "running"})


@dataclass(frozen=True)
class First:
    """The newcomer's first instance, which has booted."""

    region: Region
    shell: Shell
    client: Client
    row: Json
    printed: str

    async def run(self, command: str, family: str = "ipv4") -> str | None:
        address = self.row["ipv4"][0] if family == "ipv4" else self.row["ipv6"].partition("/")[0]
        return await self.shell.run(address, command)

    async def says(self, command: str) -> str:
        """As soon as somebody answers, which a busy machine may keep it from."""
        printed = await until(partial(self.run, command), lambda found: found is not None)
        assert printed is not None
        return printed


@pytest.fixture
async def first(tmp_path: Path) -> AsyncIterator[First]:
    async with opened_region(tmp_path, MINI, job_lease=10) as region:
        await region.cloud.start()
        home = tmp_path / "home"
        newcomer = Newcomer(home, region.cloud)
        printed = await newcomer.types(readme_commands(), region.host.network)
        shell = Shell(home / ".ssh" / "id_ed25519", region.host.network)
        [row] = (await region.cloud.instances()).values()
        yield First(region, shell, await region.cloud.client(), row, printed)


@pytest.mark.story
@pytest.mark.qemu
async def test_a_real_region_lets_the_newcomer_in(first: First) -> None:
    assert first.printed.endswith("logged in to first\n")
    await _has_the_password(first)
    name = await until(partial(first.run, "hostname", "ipv6"), bool)
    assert name == "first\n"
    await _keeps_data_through_a_reboot(first)
    await _gets_a_volume_while_it_runs(first)
    await _leaves_nothing(first)


async def _has_the_password(first: First) -> None:
    password = re.search(r'"root_pass": "([^"]+)"', readme_commands())
    assert password is not None
    line = await first.says("grep ^root: /etc/shadow")
    assert sha512_crypt.verify(password[1], line.split(":")[1])
    assert not sha512_crypt.verify(password[1] + "x", line.split(":")[1])


async def _keeps_data_through_a_reboot(first: First) -> None:
    number = "cat /proc/sys/kernel/random/boot_id"
    before = await first.says(number)
    assert await first.says("echo precious >/root/data") == ""
    await first.client.post(f"/compute/instances/{first.row['id']}/reboot")
    await until(partial(first.run, number), lambda found: found not in (None, before), _SECONDS)
    assert await first.says("cat /root/data") == "precious\n"
    await check_sound(first.region.cloud, {first.row["id"]: "running"})


async def _gets_a_volume_while_it_runs(first: First) -> None:
    body = {"label": "data", "size": 10, "compute_id": first.row["id"]}
    path = (await first.client.post("/volumes", body))["filesystem_path"]
    size = f"test -b {path} && blockdev --getsize64 {path}"
    assert await until(partial(first.run, size), bool, _SECONDS) == f"{10 << 30}\n"
    await first.says(f"echo kept >{path}; sync; echo 3 >/proc/sys/vm/drop_caches")
    assert await first.says(f"head -n 1 {path}") == "kept\n"


async def _leaves_nothing(first: First) -> None:
    await first.client.delete(f"/compute/instances/{first.row['id']}")
    await until(first.region.cloud.instances, lambda rows: rows == {})
    [volume] = (await first.client.get("/volumes"))["data"]
    path = f"/volumes/{volume['id']}"
    await until(lambda: first.client.get(path), lambda row: row["compute_id"] is None)
    await first.client.delete(path)
    await until(lambda: first.client.send("GET", path), lambda answer: answer.status == 404)
    await check_sound(first.region.cloud, {})
    held = first.region.host.held()
    assert (held.processes, held.taps, held.folders, held.filtered) == ([], [], [], [])
    done = await asyncio.to_thread(first.region.cloud.command, "fsck")
    assert (done.returncode, done.stdout) == (0, "fsck: clean\n")
