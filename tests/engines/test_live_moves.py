"""A real guest that counts and answers pings goes between two hosts, whatever is killed meanwhile.

`ROOST_TEST_MOVES` moves (2), and as many with a kill at some moment (one for each victim).
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import pytest

from roost.core.engine import EngineError
from roost.engines.qemu.migration.messages import Offered, Receiver
from roost.resources.compute.engine import InstanceSpec, VolumeDevice
from roost.resources.compute.live_engine import Destination
from roost.resources.firewalls.engine import FirewallSpec, Rule, RuleSet
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from tests.engines.harness import claim_pools, ignore, root_disk, until
from tests.engines.live_pair import QemuHost, QemuPair
from tests.engines.live_worker import Task
from tests.engines.pinger import Pinger
from tests.engines.segment import leave_to_others
from tests.engines.shell import Shell, make_shell
from tests.engines.test_qemu_guests import ipv4, with_key
from tests.support.images import ensure_mini

pytestmark = [
    pytest.mark.qemu,
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

ROUNDS = int(os.environ.get("ROOST_TEST_MOVES", "2"))
ID, VOLUME, FIREWALL = 100_001, VolumeSpec(100_002, 1), 100_003

Victim = Literal["sender's worker", "sender's QEMU", "receiver's QEMU"]
VICTIMS: tuple[Victim, ...] = get_args(Victim)

_DEVICE = "/dev/disk/by-id/scsi-0Roost_Volume_data"
_COUNT = f"""
(
    i=0
    while true; do
        i=$((i + 1))
        echo $i >/root/count.new; mv /root/count.new /root/count
        echo $i | dd of={_DEVICE} conv=notrunc,fsync 2>/dev/null
    done
) </dev/null >/dev/null 2>&1 &
"""
_SEE = f"cat /proc/sys/kernel/random/boot_id /root/count; head -n 1 {_DEVICE}; cat /root/count"


@dataclass
class Story:
    """A guest with a volume and a firewall, on the one host or on the other."""

    pair: QemuPair
    shell: Shell
    spec: InstanceSpec
    here: QemuHost
    there: QemuHost
    gaps: list[float] = field(default_factory=list)

    def says(self, command: str) -> str:
        said = self.pair.world.run(
            until(
                lambda: self.shell.run(ipv4(self.spec), command), lambda answer: answer is not None
            )
        )
        assert said is not None
        return said

    def seen(self) -> tuple[str, int, bool]:
        """Which start it is of, its count, and whether that on its volume is of the same moment."""
        boot, *counts = self.says(_SEE).split()
        before, on_volume, after = map(int, counts)
        return boot, before, before - 1 <= on_volume <= after

    def expect(self) -> Destination:
        self.there.run(self.there.volumes.create(VOLUME))
        offer = self.here.run(self.here.engine.live.offer(ID, self.here.address))
        receive = self.there.engine.live.receive(self.spec, offer, self.there.address)
        destination = self.there.run(receive)
        self.there.run(self.there.firewalls.apply(firewall(self.spec)))
        self.there.answers_for(self.spec)
        return destination

    def send(self, destination: Destination) -> None:
        self.here.run(self.here.engine.live.send(ID, destination, None, ignore))

    def arrive(self) -> None:
        """What follows once the books say that it is there."""
        self.there.run(self.there.engine.live.enter(self.spec))
        for each in self.spec.ipv4:
            leave_to_others(self.here.host, str(each.interface.ip))
        self.here.run(self.here.engine.delete(ID))
        self.here.run(self.here.volumes.delete(VOLUME.id))
        self.here.run(self.here.firewalls.remove(FIREWALL))
        self.here, self.there = self.there, self.here

    def give_up(self) -> None:
        """What undoes the rest."""
        self.there.run(self.there.engine.live.turn_away(ID))
        self.here.run(self.here.engine.live.stay(ID))
        self.here.run(self.here.engine.start(self.spec))
        self.there.run(self.there.volumes.delete(VOLUME.id))
        self.there.run(self.there.firewalls.remove(FIREWALL))

    def check_sound(self) -> None:
        """One runs, and the other host has nothing of it."""
        assert len(self.here.machines(ID)) == 1
        assert self.here.runs(ID)
        assert self.there.machines(ID) == []
        assert self.there.remains(ID) == []
        assert self.there.run(self.there.volumes.list()) == []
        volumes = self.here.run(self.here.volumes.list())
        assert volumes == [VolumeState(VOLUME.id, VOLUME.size, ID)]
        (disk,) = (self.here.run(self.here.engine.list()))[0].disks
        assert disk.id == ID
        assert self.here.run(self.here.engine.addresses.list()) == {ID: self.spec.addresses}


def firewall(spec: InstanceSpec) -> FirewallSpec:
    """Logging in and pings, and nothing else."""
    addresses = frozenset(str(each.interface.ip) for each in spec.ipv4)
    everybody = ("0.0.0.0/0",)
    rules = (
        Rule("ACCEPT", "TCP", ((22, 22),), everybody),
        Rule("ACCEPT", "ICMP", (), everybody),
    )
    return FirewallSpec(FIREWALL, RuleSet(rules, "DROP", (), "ACCEPT"), addresses)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("moves")
    pair = QemuPair(folder, ensure_mini(), claim_pools())
    shell = make_shell(folder, "br0")
    spec = with_key(pair.spec(ID), shell)
    spec = replace(spec, devices=(*spec.devices, VolumeDevice(None, VOLUME.id, "data")))
    story = Story(pair, shell, spec, pair.here, pair.there)
    try:
        _begin(story)
        yield story
    finally:
        for each in (story.here, story.there):
            each.run(each.engine.live.turn_away(ID))
        pair.close()


def _begin(story: Story) -> None:
    here = story.here
    here.answers_for(story.spec)
    here.run(here.engine.disks.make(root_disk(here.harness, ID)))
    here.run(here.volumes.create(VOLUME))
    here.run(here.engine.start(story.spec))
    here.run(here.firewalls.apply(firewall(story.spec)))
    story.says("true")
    story.says(_COUNT)


@pytest.mark.timeout(300 + 60 * ROUNDS)
def test_a_guest_that_counts_goes_there_and_back(story: Story) -> None:
    until_counted(story, 2)
    for number in range(ROUNDS):
        before = story.seen()
        with Pinger(story.pair.world.name, ipv4(story.spec)) as pinger:
            destination = story.expect()
            story.send(destination)
            story.arrive()
            after = story.seen()
        assert after[0] == before[0], "it was started anew"
        assert before[1] <= after[1], "it has lost what it wrote"
        assert after[2], "its volume is of another moment"
        until_counted(story, after[1] + 2)
        story.check_sound()
        assert not reaches(story, 81), "its firewall lets through what it should not"
        story.gaps.append(pinger.gap())
        lost = pinger.sent - len(pinger.answered)
        print(f"round {number + 1}: silent for {pinger.gap() * 1000:.0f} ms, {lost} pings lost")  # noqa: T201
    gaps = sorted(story.gaps)
    p50, p99 = (gaps[min(len(gaps) - 1, int(len(gaps) * part))] for part in (0.5, 0.99))
    print(f"{story.here.accelerator}, {len(gaps)} rounds")  # noqa: T201
    print(f"silence p50 {p50 * 1000:.0f}, p99 {p99 * 1000:.0f}, worst {gaps[-1] * 1000:.0f} ms")  # noqa: T201
    assert gaps[-1] < 30, "it was silent for so long that connections break"


def test_one_that_has_come_boots_again(story: Story) -> None:
    """What it boots with has come along."""
    if not story.gaps:
        story.send(story.expect())
        story.arrive()
    boot = story.seen()[0]
    story.says("(sleep 1; reboot -f) </dev/null >/dev/null 2>&1 &")
    booted = until(
        lambda: story.shell.run(ipv4(story.spec), "cat /proc/sys/kernel/random/boot_id"),
        lambda answer: answer is not None and answer.strip() != boot,
    )
    story.pair.world.run(booted)
    story.says(_COUNT)


@pytest.mark.parametrize("number", range(max(ROUNDS, len(VICTIMS))))
def test_one_guest_runs_whatever_is_killed(story: Story, number: int) -> None:
    victim, wait = VICTIMS[number % len(VICTIMS)], random.uniform(0, 2.5)
    destination = story.expect()
    here, there = story.here, story.there
    outcome = "gone"
    if victim == "sender's worker":
        _send_until_killed(story, destination, wait)
        outcome = "gone on"
        _try(story, destination)
    else:
        struck = here if victim == "sender's QEMU" else there
        timer = threading.Timer(wait, struck.die, (ID,))
        timer.start()
        _try(story, destination)
        timer.join()
    if story.here is here:
        outcome = "stayed"
    if not story.here.machines(ID):  # It was killed where it runs, as a guest that crashes.
        story.here.run(story.here.engine.start(story.spec))
        outcome += ", started again"
    print(f"{victim} killed after {wait:.2f} s: {outcome}")  # noqa: T201
    story.check_sound()
    story.says("true")
    if story.says("pgrep -f count.new || true") == "":
        story.says(_COUNT)


def test_who_has_no_key_is_turned_down(story: Story) -> None:
    """And the guest goes on."""
    destination = Receiver.model_validate_json(story.expect())
    stranger = destination.model_copy(update={"secret": "0" * 64})
    before = story.seen()
    with pytest.raises(EngineError, match="could not be moved"):
        story.send(Destination(stranger.model_dump_json()))
    assert story.here.runs(ID)
    offered = story.here.run(story.here.engine.live.offer(ID, story.here.address))
    assert destination.secret not in repr(destination)
    assert Offered.model_validate_json(offered).secret not in repr(
        Offered.model_validate_json(offered)
    )
    story.give_up()
    story.check_sound()
    assert story.seen()[0] == before[0]


def until_counted(story: Story, number: int) -> None:
    deadline = time.monotonic() + 60
    while story.seen()[1] < number:
        assert time.monotonic() < deadline, "it counts no more"


def reaches(story: Story, port: int) -> bool:
    """Whether a packet to a port at which nobody listens is answered at all."""
    address = str(ipv4(story.spec))
    probe = "import socket, sys; s = socket.socket(); s.settimeout(1)\n"
    probe += "try: s.connect((sys.argv[1], int(sys.argv[2])))\n"
    probe += "except ConnectionRefusedError: print('refused')\nexcept TimeoutError: pass"
    return "refused" in story.pair.world.program(sys.executable, "-c", probe, address, str(port))


def _try(story: Story, destination: Destination) -> None:
    """As a job does it that goes on until all is undone, or done."""
    try:
        story.send(destination)
    except EngineError:
        story.give_up()
    else:
        story.arrive()


def _send_until_killed(story: Story, destination: Destination, wait: float) -> None:
    task = Task(
        namespace=story.here.host.name,
        state_dir=story.here.state_dir,
        images=ensure_mini().root,
        ipv4=story.pair.pools.ipv4,
        ipv6=story.pair.pools.ipv6,
        accelerator=story.here.accelerator,
        compute_id=ID,
        destination=destination,
    )
    command = (sys.executable, "-m", "tests.engines.live_worker")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(task.model_dump_json())
        worker.stdin.close()
        assert worker.stdout.readline() == "begins\n"
        time.sleep(wait)
        worker.send_signal(signal.SIGKILL)
