"""Parts of the QEMU engine that need no guest."""

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from ipaddress import IPv4Network
from itertools import islice
from pathlib import Path

import pytest

from roost.core.engine import EngineError
from roost.engines.processes import Process, find_process, search_process
from roost.engines.qemu.boot import launch
from roost.engines.qemu.boot.boots import Boot
from roost.engines.qemu.boot.command import Machine, command
from roost.engines.qemu.boot.launch import KvmError
from roost.engines.qemu.guests.devices import file_node, volume_drive
from roost.engines.qemu.guests.directory import CONSOLE, Guest
from roost.engines.qemu.guests.disk_files import DiskFile, Place, disk_ids
from roost.engines.qemu.guests.usage import read_console, trim_consoles
from roost.engines.qemu.host import kvm
from roost.engines.qemu.host.programs import BusyError, failure, run
from roost.engines.qemu.network.config import (
    NetworkConfig,
    bridge_mac,
    ipv4_links,
    ipv6_link,
    network_name,
)
from tests.engines.harness import Pools

_SLEEP = "import time; time.sleep(60)"


def test_a_pid_file_of_an_unrelated_process_means_nothing(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    pid_file.write_text(f"{os.getpid()}\n")
    assert find_process(pid_file, "roost-00000000.compute-1") is None


@pytest.mark.parametrize("text", ["", "no number", "999999999"])
def test_a_pid_file_may_hold_anything(tmp_path: Path, text: str) -> None:
    pid_file = tmp_path / "pid"
    pid_file.write_text(text)
    assert find_process(pid_file, "marker") is None


def test_a_process_is_found_until_it_ends_even_if_nobody_buries_it(tmp_path: Path) -> None:
    marker = f"marker-{tmp_path.name}-{os.getpid()}"
    child = subprocess.Popen([sys.executable, "-c", _SLEEP, marker])
    found = search_process(marker)
    assert found == Process(child.pid, marker)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{child.pid}").exists()
    assert not found.alive()
    assert search_process(marker) is None
    child.wait()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (OSError(errno.ENOSPC, "x", "/secret/path"), "the host's disk is full"),
        (OSError(errno.ENOMEM, "x"), "the host is out of memory"),
        ("qemu-img: /secret/path: Could not open: Input/output error", "disk does not work"),
        ("qemu: Could not open '/secret/path': No such file or directory", "a file of it is gone"),
        ("resize2fs: New size smaller than minimum (59854)", "what it holds needs more room"),
        ("qemu: -drive file=/secret/path: strange", "see the log of the host"),
    ],
)
def test_faults_are_told_without_paths_of_the_host(fault: str | OSError, words: str) -> None:
    told = str(failure("The disk could not be made", fault))
    assert told.startswith("The disk could not be made: ")
    assert words in told
    assert "secret" not in told


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Could not access KVM kernel module: denied\nq: failed to initialize kvm: x", KvmError),
        ("q: error: failed to set MSR 0x10a to 0x0", KvmError),
        ("q: kvm_init_vcpu: kvm_get_vcpu failed (0): Cannot allocate memory", EngineError),
        ('q: kvm warning\nq: -device x: Failed to get "write" lock', BusyError),
        ("q: kvm warning\nq: -blockdev disk-1.qcow2: strange", EngineError),
        ("", EngineError),
    ],
)
def test_only_a_complaint_about_kvm_is_taken_for_one(said: str, kind: type[EngineError]) -> None:
    assert type(launch._fault(said)) is kind


@pytest.mark.parametrize(
    ("group", "mode", "groups"),
    [(0, 0o666, ()), (7, 0o660, (7,)), (7, 0o600, None), (0, 0o660, None)],
)
def test_guests_use_kvm_as_its_device_allows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    group: int,
    mode: int,
    groups: tuple[int, ...] | None,
) -> None:
    if os.geteuid() != 0:
        pytest.skip("giving files away needs root")
    device = tmp_path / "kvm"
    monkeypatch.setattr(kvm, "_DEVICE", device)
    assert kvm.kvm_groups() is None
    device.touch()
    os.chown(device, 0, group)
    device.chmod(mode)
    assert kvm.kvm_groups() == groups


async def test_a_missing_program_is_a_fault_of_the_engine() -> None:
    with pytest.raises(EngineError, match="could not be made"):
        await run("It could not be made", "no-such-program-here")


def test_a_talkative_console_is_cut_to_its_end(tmp_path: Path) -> None:
    guest = Guest(tmp_path, 100_001)
    guest.directory.mkdir()
    path = guest.directory / CONSOLE
    path.write_bytes(b"x" * 5_000_000 + b"the end")
    with path.open("ab") as writer:
        trim_consoles([guest])
        writer.write(b", and more")
    assert path.stat().st_size < 500_000
    assert read_console(guest, 17) == b"the end, and more"


def test_translated_guests_get_no_more_processors_than_there_are(tmp_path: Path) -> None:
    guest = Guest(tmp_path, 100_001)
    many = replace(Pools(0).spec(100_001), vcpus=512)
    boot = Boot((), None, 0)
    arguments = command(guest, many, Machine.of(many, "tcg"), boot, (5,), 6, 7, {})
    assert arguments[arguments.index("-smp") + 1] == str(os.cpu_count())
    arguments = command(guest, many, Machine.of(many, "kvm"), boot, (5,), 6, 7, {})
    assert arguments[arguments.index("-smp") + 1] == "512"


def test_state_directories_have_networks_of_their_own(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert len(network_name(one)) < 16
    for derive in (network_name, ipv6_link):
        assert derive(one) == derive(one)
        assert derive(one) != derive(other)


def test_gateways_keep_their_card_on_every_host_of_a_region() -> None:
    one, other = (NetworkConfig((pools.ipv4,), pools.ipv6) for pools in map(Pools, (1, 2)))
    assert bridge_mac(one) == bridge_mac(replace(one, uplink="nat"))
    assert bridge_mac(one) != bridge_mac(other)


def test_the_cable_avoids_reserved_addresses(tmp_path: Path) -> None:
    networks = set(islice(ipv4_links(tmp_path), 20_000))
    assert len(networks) == 16384 - 3 * 64
    assert IPv4Network("169.254.169.252/30") not in networks


def test_drives_are_described_alike_on_the_command_line_and_to_the_monitor() -> None:
    below = file_node("/dev/fdset/100007")
    drive = volume_drive(100_007, "one-two_3", 16, below)
    _, node, _, device = drive.arguments()
    assert json.loads(node) == drive.node()
    assert json.loads(device) == drive.device()
    assert drive.node()["node-name"] == drive.device()["drive"] == "volume-100007"
    names = [drive.device()[key] for key in ("vendor", "product", "device_id")]
    assert names == ["Roost", "Volume", "one-two_3"]
    assert "bootindex" not in drive.device()
    assert volume_drive(100_007, "one-two_3", 0, below, boots=True).device()["bootindex"] == 1


def test_a_disk_that_is_being_replaced_is_the_new_one(tmp_path: Path) -> None:
    place = Place(tmp_path, 100_001)
    assert disk_ids(tmp_path / "nowhere") == disk_ids(tmp_path) == []
    place.part("raw").write_bytes(b"new")
    place.path("qcow2").write_bytes(b"old")
    assert place.find() == DiskFile(place.path("qcow2"), "qcow2")
    assert DiskFile(place.path("qcow2"), "qcow2").size() == 0
    place.put("raw")
    assert place.find() == DiskFile(place.path("raw"), "raw")
    assert disk_ids(tmp_path) == [100_001]
    assert not place.path("qcow2").exists()
    Place(tmp_path, 10_000).remove()
    assert place.find() is not None
    place.remove()
    assert list(tmp_path.iterdir()) == []
