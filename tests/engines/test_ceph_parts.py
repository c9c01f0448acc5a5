"""How a storage cluster is asked, and what is made of its answers; stand-ins are its programs."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from roost.core.engine import EngineError, FullError
from roost.engines.qemu.host.programs import BusyError
from roost.engines.qemu.rbd import cluster as clusters
from roost.engines.qemu.rbd.cluster import Cluster
from roost.engines.qemu.rbd.images import Images
from roost.engines.qemu.rbd.keys import Keys
from roost.engines.qemu.rbd.room import check_room, health

CLUSTER = Cluster(Path("/etc/ceph/ceph.conf"), "roost", "cloud", "ams")
_FULL_POOL = '{"detail": [{"message": "pool \'%s\' is full (no quota)"}]}'

StandIn = Callable[[str, str], None]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Let a program be a shell script, which finds its arguments as usual."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def make(name: str, script: str) -> None:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    return make


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (1, EngineError, "the storage cluster does not permit it"),
        (2, EngineError, "its data do not exist"),
        (13, EngineError, "the storage cluster does not permit it"),
        (16, BusyError, "it is in use"),
        (28, FullError, "the storage cluster is full"),
        (108, EngineError, "this host is shut out of the storage cluster"),
        (110, EngineError, "the storage cluster does not answer"),
        (122, FullError, "the storage cluster is full"),
        (95, EngineError, "see the log of the host"),
    ],
)
async def test_faults_are_told_in_words_for_the_owner(
    stand_in: StandIn, code: int, error: type[EngineError], words: str
) -> None:
    stand_in("rbd", f"echo 'rbd: what /etc/ceph knows' >&2; exit {code}")
    with pytest.raises(EngineError) as fault:
        await Images(CLUSTER).resize("It could not be grown", "volume-1", 1)
    assert type(fault.value) is error
    assert str(fault.value) == f"It could not be grown: {words}"


async def test_a_program_that_could_not_connect_is_a_lost_cluster(stand_in: StandIn) -> None:
    stand_in("ceph", "echo '[errno 110] RADOS timed out (error connecting)' >&2; exit 1")
    with pytest.raises(EngineError, match="the storage cluster does not answer"):
        await health(CLUSTER)


async def test_a_program_that_does_not_end_is_ended(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(clusters, "SECONDS", 0.5)
    stand_in("ceph", f"echo $$ >{shlex.quote(str(tmp_path))}/pid; exec sleep 600")
    with pytest.raises(EngineError, match="the storage cluster does not answer"):
        await health(CLUSTER)
    assert not _runs(tmp_path / "pid")


def _runs(pid_file: Path) -> bool:
    """One that was ended before it could write has no file."""
    return pid_file.exists() and Path("/proc", pid_file.read_text().strip()).exists()


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ("{}", None),
        ('{"OSD_DOWN": {"detail": []}}', None),
        (f'{{"POOL_FULL": {_FULL_POOL % "other"}}}', None),
        (f'{{"POOL_FULL": {_FULL_POOL % "cloud"}}}', "It fails: the storage cluster is full"),
        ('{"OSD_FULL": {"detail": []}}', "It fails: the storage cluster is full"),
        ('{"OSD_NEARFULL": {"detail": []}}', "It fails: the storage cluster is nearly full"),
    ],
)
async def test_a_cluster_refuses_before_it_is_full(
    stand_in: StandIn, checks: str, words: str | None
) -> None:
    said = f'{{"status": "HEALTH_WARN", "checks": {checks}}}'
    stand_in("ceph", f"echo {shlex.quote(said)}")
    assert (await health(CLUSTER)).ok is (words is None or "nearly" in words)
    if words is None:
        await check_room(CLUSTER, "It fails")
    else:
        with pytest.raises(FullError) as full:
            await check_room(CLUSTER, "It fails")
        assert str(full.value) == words


async def test_nothing_is_there_without_the_namespace(stand_in: StandIn) -> None:
    stand_in("rbd", "exit 2")
    images = Images(CLUSTER)
    assert await images.all() == []
    assert await images.find("volume-1") is None
    assert await images.watchers("volume-1") == []


async def test_the_first_image_makes_the_namespace(stand_in: StandIn, tmp_path: Path) -> None:
    log = shlex.quote(str(tmp_path / "log"))
    made = shlex.quote(str(tmp_path / "made"))
    stand_in(
        "rbd",
        f'echo "$*" >>{log}\n'
        f'case "$*" in *" namespace create cloud/ams") touch {made};; *) test -e {made} || exit 2;;'
        " esac",
    )
    await Images(CLUSTER).create("It fails", "volume-1", 1 << 30)
    asked = (tmp_path / "log").read_text().splitlines()
    assert [line.rpartition(" ")[2] for line in asked] == [
        "cloud/ams/volume-1",
        "cloud/ams",
        "cloud/ams/volume-1",
    ]
    assert all("--conf /etc/ceph/ceph.conf --id roost " in line for line in asked)


async def test_a_key_of_an_earlier_image_is_made_anew(stand_in: StandIn, tmp_path: Path) -> None:
    """Whose rights were others: Ceph refuses to give it out with these."""
    dropped = shlex.quote(str(tmp_path / "dropped"))
    stand_in(
        "ceph",
        'case "$*" in\n'
        f'*" auth rm client.roost.ams.volume-1") touch {dropped};;\n'
        f'*" auth get-or-create-key client.roost.ams.volume-1 "*) test -e {dropped} || exit 22\n'
        'echo "c2VjcmV0";;\n*) exit 1;;\nesac',
    )
    assert await Keys(CLUSTER).get("volume-1", "10ab") == "c2VjcmV0"
