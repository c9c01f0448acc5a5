"""Real guests: reachable by their addresses, held to them, and safe on their disks."""

import asyncio
import os
import shutil
import stat
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from roost.core.engine import EngineError
from roost.engines.qemu import instances
from roost.engines.qemu.boot import launch
from roost.engines.qemu.guests import directory as guests
from roost.engines.qemu.guests.directory import CONSOLE, Guest
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.prerequisites import check
from roost.resources.compute.disk_engine import DiskSpec
from roost.resources.compute.engine import InstanceSpec, VolumeDevice
from roost.resources.volumes.engine import VolumeSpec
from roost.secrets import hash_guest_password
from tests.engines.harness import counters_of, root_disk, until
from tests.engines.qemu_host import QemuHarness, open_qemu, output, processes_with
from tests.engines.shell import Shell, make_shell
from tests.support.images import ensure_mini

pytestmark = pytest.mark.qemu

_GRACE = 60.0


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[QemuHarness]:
    harness = await open_qemu(tmp_path_factory.mktemp("guests"))
    yield harness
    await harness.engine.shut_down()


@pytest.fixture(scope="module")
def shell(harness: QemuHarness, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return make_shell(tmp_path_factory.mktemp("key"), harness.network)


@pytest_asyncio.fixture(scope="module")
async def pair(
    harness: QemuHarness, shell: Shell
) -> AsyncIterator[tuple[InstanceSpec, InstanceSpec]]:
    """Two guests that have booted."""
    first, second = [with_key(harness.spec(number), shell) for number in (100_001, 100_002)]
    for spec in (first, second):
        await boot(harness, spec)
    await asyncio.gather(shell.booted(ipv4(first)), shell.booted(ipv4(second)))
    yield first, second
    for spec in (first, second):
        await harness.engine.delete(spec.id)


async def boot(harness: QemuHarness, spec: InstanceSpec) -> None:
    await harness.engine.disks.make(root_disk(harness, spec.id))
    await harness.engine.start(spec)


def with_key(spec: InstanceSpec, shell: Shell) -> InstanceSpec:
    return replace(spec, setup=replace(spec.setup, authorized_keys=(shell.public_key,)))


def ipv4(spec: InstanceSpec) -> IPv4Address:
    return spec.ipv4[0].interface.ip


def ipv6(spec: InstanceSpec) -> IPv6Address:
    assert spec.ipv6 is not None
    return spec.ipv6.ip


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


async def test_a_guest_answers_at_its_public_ipv4_address(
    pair: tuple[InstanceSpec, InstanceSpec], shell: Shell
) -> None:
    for spec in pair:
        assert await shell.run(ipv4(spec), "hostname") == f"{spec.setup.hostname}\n"


async def test_a_guest_gives_itself_the_ipv6_address_foreseen(
    pair: tuple[InstanceSpec, InstanceSpec], shell: Shell
) -> None:
    for spec in pair:
        name = await until(partial(shell.run, ipv6(spec), "hostname"), bool)
        assert name == f"{spec.setup.hostname}\n"


async def test_guests_reach_each_other(
    pair: tuple[InstanceSpec, InstanceSpec], shell: Shell
) -> None:
    first, second = pair
    assert await shell.run(ipv4(first), f"ping -c 1 -W 5 {ipv4(second)}")
    # Guests get these addresses from the router, in their own time.
    ping = f"ping -6 -c 1 -W 5 {ipv6(second)}"
    await until(partial(shell.run, ipv4(first), ping), bool)


async def test_a_guest_cannot_use_an_address_that_is_not_its_own(
    pair: tuple[InstanceSpec, InstanceSpec], shell: Shell
) -> None:
    first, second = pair
    other = ipv4(second) + 1
    assert await shell.run(ipv4(first), f"ip address add {other}/24 dev eth0") == ""
    assert await shell.run(ipv4(first), f"ping -c 1 -W 1 -I {other} {ipv4(second)}") is None
    assert await shell.run(ipv4(first), f"ping -c 1 -W 5 -I {ipv4(first)} {ipv4(second)}")


async def test_a_guest_runs_as_a_user_of_its_own(
    harness: QemuHarness, pair: tuple[InstanceSpec, InstanceSpec]
) -> None:
    users = set()
    for spec in pair:
        guest = Guest(harness.state_dir, spec.id)
        process = guest.process()
        assert process is not None
        fields = status_of(process.pid)
        (user,) = {int(number) for number in fields["Uid"].split()}
        assert {int(number) for number in fields["Gid"].split()} == {user}
        assert int(fields["CapPrm"], 16) == int(fields["CapBnd"], 16) == 0
        assert fields["NoNewPrivs"] == "1"
        owned = {path.name for path in guest.directory.rglob("*") if path.stat().st_uid == user}
        assert owned == {f"disk-{spec.id}.qcow2", "console.log"}
        assert stat.filemode(guest.directory.stat().st_mode) == "drwx--x---"
        assert (guest.directory.stat().st_uid, guest.directory.stat().st_gid) == (0, user)
        users.add(user)
    assert len(users - {0}) == 2


async def test_a_private_image_can_be_read_by_its_guest(tmp_path: Path) -> None:
    harness = await open_qemu(tmp_path)
    spec = harness.spec(100_001)
    await harness.engine.disks.make(root_disk(harness, spec.id))
    for path in Guest(tmp_path, spec.id).disk(spec.id).image_directory.iterdir():
        copy = path.with_suffix(".copy")
        shutil.copyfile(path, copy)
        copy.chmod(0o600)
        copy.replace(path)
    await harness.engine.start(spec)
    await harness.engine.delete(spec.id)
    await harness.engine.shut_down()


async def test_counters_see_the_network_and_the_disk(
    harness: QemuHarness, pair: tuple[InstanceSpec, InstanceSpec], shell: Shell
) -> None:
    before = await counters_of(harness.engine, pair[0].id)
    await shell.run(ipv4(pair[0]), "dd if=/dev/zero of=/root/block bs=1k count=64; sync")
    after = await counters_of(harness.engine, pair[0].id)
    assert before is not None
    assert after is not None
    assert after.traffic.ipv4_in > before.traffic.ipv4_in
    assert after.traffic.ipv4_out > before.traffic.ipv4_out
    disk = pair[0].id
    assert after.disks[disk] >= before.disks[disk] + 65536


async def test_a_guest_that_shuts_down_keeps_what_it_wrote(
    harness: QemuHarness, shell: Shell
) -> None:
    """Its password too, until that is reset."""
    password = hash_guest_password("Correct-horse-7")
    spec = with_key(harness.spec(100_003), shell)
    spec = replace(spec, setup=replace(spec.setup, root_password_hash=password))
    change = "sed -i s/^root:[^:]*/root:changed/ /etc/shadow"
    await boot(harness, spec)
    await shell.booted(ipv4(spec))
    assert await shell.run(ipv4(spec), f"echo precious > /root/data; {change}") == ""
    async with asyncio.timeout(_GRACE / 2):
        await harness.engine.stop(spec.id, _GRACE)
    reset = replace(spec, setup=replace(spec.setup, password_revision=1))
    await harness.engine.start(reset)
    await shell.booted(ipv4(spec))
    assert await shell.run(ipv4(spec), "cat /root/data") == "precious\n"
    shadow = await shell.run(ipv4(spec), "cat /etc/shadow")
    assert shadow is not None
    assert f"root:{password}:" in shadow
    await harness.engine.delete(spec.id)


async def test_a_guest_that_powers_itself_off_is_offline(
    harness: QemuHarness, pair: tuple[InstanceSpec, InstanceSpec], shell: Shell
) -> None:
    await shell.run(ipv4(pair[1]), "poweroff")
    state = await until(
        lambda: harness.engine.inspect(pair[1].id),
        lambda state: state is not None and state.power == "offline",
    )
    assert state is not None
    await harness.engine.start(pair[1])
    await shell.booted(ipv4(pair[1]))


async def test_shut_down_leaves_no_trace_on_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instances, "_SHUT_DOWN_GRACE", 0.5)
    harness = await open_qemu(tmp_path)
    spec = harness.spec(100_001)
    await boot(harness, spec)
    await harness.engine.shut_down()
    assert processes_with(harness.network) == []
    assert processes_with(str(tmp_path)) == []
    assert harness.network not in output("ip", "netns")
    assert harness.network not in output("ip", "link")
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert state.power == "offline"


async def test_a_state_directory_may_be_deep(tmp_path: Path) -> None:
    """The name of a Unix socket may not."""
    harness = await open_qemu(tmp_path / ("d" * 100) / ("e" * 100))
    spec = harness.spec(100_001)
    await boot(harness, spec)
    assert await counters_of(harness.engine, spec.id) is not None
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert state.process in processes_with(f"{harness.network}.{spec.name}")
    await harness.engine.stop(spec.id, 0)
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert state.process is None
    await harness.engine.shut_down()


async def test_a_guest_runs_where_hardware_acceleration_does_not(tmp_path: Path) -> None:
    harness = await open_qemu(tmp_path)
    network = NetworkConfig((harness.pools.ipv4,), harness.pools.ipv6)
    engine = QemuInstances(tmp_path, ensure_mini(), network, "kvm")
    spec = harness.spec(100_001)
    await engine.disks.make(DiskSpec(spec.id, spec.id, 64, "raw"))
    await engine.start(spec)
    state = await engine.inspect(spec.id)
    assert state is not None
    assert state.power == "running"
    await engine.delete(spec.id)
    await engine.shut_down()


async def test_other_faults_are_not_taken_for_kvms(
    harness: QemuHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guest is started once, and its owner is told what went wrong."""
    launches: list[Guest] = []

    async def fail(guest: Guest, *_: object) -> None:
        launches.append(guest)
        raise EngineError("the host is out of memory")

    monkeypatch.setattr(instances, "launch", fail)
    network = NetworkConfig((harness.pools.ipv4,), harness.pools.ipv6)
    engine = QemuInstances(harness.state_dir, ensure_mini(), network, "kvm")
    spec = harness.spec(100_004)
    await engine.disks.make(root_disk(harness, spec.id))
    with pytest.raises(EngineError, match="out of memory"):
        await engine.start(spec)
    assert len(launches) == 1
    await engine.delete(spec.id)


async def test_a_qemu_that_never_answers_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when it has no pid file yet."""
    monkeypatch.setattr(launch, "_START_SECONDS", 0.5)
    monkeypatch.setattr(launch, "_WRITE_PID", 'exec "$@"')
    guest = Guest(tmp_path, 100_001)
    guest.directory.mkdir()
    with pytest.raises(EngineError, match="could not be started"):
        await launch._run(guest, ["tail", "-f", "/dev/null", guest.marker], ())
    assert processes_with(guest.marker) == []


async def test_the_power_watch_keeps_consoles_small(harness: QemuHarness) -> None:
    """Its only call that reaches every guest is `list`."""
    spec = harness.spec(100_005)
    await harness.engine.disks.make(root_disk(harness, spec.id))
    console = harness.state_dir / spec.name / CONSOLE
    console.write_bytes(b"x" * 5_000_000)
    await harness.engine.list()
    assert console.stat().st_size < 500_000
    await harness.engine.delete(spec.id)


async def test_this_host_meets_the_prerequisites(harness: QemuHarness, tmp_path: Path) -> None:
    network = NetworkConfig((harness.pools.ipv4,), harness.pools.ipv6)
    assert await check(harness.state_dir, network) is None
    await boot(harness, harness.spec(100_010))
    problem = await check(tmp_path, network)
    assert problem is not None
    assert "overlaps" in problem
    await harness.engine.delete(harness.spec(100_010).id)


async def test_guests_that_run_already_are_adopted(harness: QemuHarness) -> None:
    """Another process's: its log says which, and the end of one is told at once."""
    spec = harness.spec(100_077)
    await boot(harness, spec)
    other = harness.reopen()
    with capture_logs() as logs:
        async with aclosing(other.endings()) as endings:
            ended = asyncio.ensure_future(anext(endings))
            await until(partial(_told, logs), bool)
            assert not ended.done()
            await harness.crash(spec.id)
            async with asyncio.timeout(60):
                assert await ended == spec.id
    [line] = [line for line in logs if line["event"] == "guests_adopted"]
    assert spec.id in line["guests"]
    await harness.engine.delete(spec.id)


async def _told(logs: Sequence[Mapping[str, object]]) -> bool:
    return any(line["event"] == "guests_adopted" for line in logs)


async def test_a_restart_of_the_host_is_no_crash(
    harness: QemuHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a guest was started in is kept beside it; nothing had a chance to note that it went."""
    spec = harness.spec(100_078)
    await boot(harness, spec)
    await harness.crash(spec.id)
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert not state.interrupted
    monkeypatch.setattr(guests, "host_start", lambda: "another boot of the kernel")
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert state.interrupted
    await harness.engine.start(spec)
    await harness.crash(spec.id)
    state = await harness.engine.inspect(spec.id)
    assert state is not None
    assert not state.interrupted
    await harness.engine.delete(spec.id)


async def test_the_host_tells_what_it_has_left(harness: QemuHarness) -> None:
    host = await harness.engine.host()
    [folder] = host.folders
    assert folder.path == str(harness.state_dir)
    assert 0 < folder.free < folder.size
    assert 0 < host.memory_free < host.memory


async def test_no_look_at_processes_happens_on_the_event_loop(
    harness: QemuHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a search among all processes, nor one for open files; one for all volumes."""
    loop, looks = threading.get_ident(), list[str]()
    listing, links = os.listdir, Path.iterdir

    def watched(path: str | Path) -> None:
        if str(path).startswith("/proc"):
            assert threading.get_ident() != loop
            looks.append(str(path))

    def listdir(path: str) -> list[str]:
        watched(path)
        return listing(path)

    def iterdir(path: Path) -> Iterator[Path]:
        watched(path)
        return links(path)

    volumes = [VolumeSpec(100_080 + number, 1) for number in range(3)]
    for volume in volumes:
        await harness.volumes.create(volume)
    devices = tuple(VolumeDevice(None, volume.id, "v") for volume in volumes)
    spec, other = harness.spec(100_079), harness.spec(100_089)
    await boot(harness, other)
    await harness.engine.disks.make(root_disk(harness, spec.id))
    monkeypatch.setattr(os, "listdir", listdir)
    monkeypatch.setattr(Path, "iterdir", iterdir)
    await harness.engine.start(replace(spec, devices=(*spec.devices, *devices)))
    files = [path for path in looks if path.endswith("/fd")]
    assert len(files) == len(set(files)) > 0
    assert [state.compute_id for state in await harness.volumes.list()][:3] == [spec.id] * 3
    for each in (spec, other):
        await harness.engine.delete(each.id)
    for volume in volumes:
        await harness.volumes.delete(volume.id)
