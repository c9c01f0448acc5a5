"""What the images and the engine ask of the host."""

import subprocess
import sys

import pytest

from roost.engines.qemu.host.kvm import accelerator
from roost.engines.qemu.images.initrd import in_load_order
from roost.engines.qemu.images.packages import IMAGE_PACKAGES, QEMU_PACKAGES, missing_packages

DEPENDENCIES = """\
k/virtio_scsi.ko: k/scsi_mod.ko k/scsi_common.ko k/virtio.ko k/virtio_ring.ko
k/scsi_mod.ko: k/scsi_common.ko
k/scsi_common.ko:
k/virtio.ko: k/virtio_ring.ko
k/virtio_ring.ko:
k/virtio-rng.ko: k/virtio.ko k/virtio_ring.ko
k/unused.ko:
"""


def test_modules_come_after_what_they_need() -> None:
    assert in_load_order(DEPENDENCIES, ["virtio_rng", "built_in", "virtio_scsi", "scsi_mod"]) == [
        "k/virtio_ring.ko",
        "k/virtio.ko",
        "k/virtio-rng.ko",
        "k/scsi_common.ko",
        "k/scsi_mod.ko",
        "k/virtio_scsi.ko",
    ]


def test_packages_that_dpkg_does_not_hold_are_missing() -> None:
    assert missing_packages(["dpkg", "no-such-package", "dpkg", "none-either"]) == (
        "no-such-package",
        "none-either",
    )
    assert set(missing_packages()) <= {*QEMU_PACKAGES, *IMAGE_PACKAGES}


async def test_the_accelerator_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = await accelerator()
    assert first in ("kvm", "tcg")
    monkeypatch.setattr(sys, "executable", "/no/python")
    assert await accelerator() == first


async def test_the_probe_says_by_its_exit_status_whether_kvm_runs_guests() -> None:
    probe = subprocess.run(
        [sys.executable, "-m", "roost.engines.qemu.host.kvm"], timeout=30, capture_output=True
    )
    assert (probe.returncode == 0) == (await accelerator() == "kvm")
    assert probe.stderr == b""
