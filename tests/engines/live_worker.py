"""One step of a move, in a process and on a host of its own: what a worker does until it is killed.

`python -m tests.engines.live_worker`, with a Task on its standard input.
"""

import asyncio
import sys
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from roost.engines.qemu.boot.command import Accelerator
from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.namespace import enter
from roost.resources.compute.live_engine import Destination
from tests.engines.harness import ignore


class Task(BaseModel):
    """`send` and nothing else: the step that takes long, and in which a guest is halted."""

    namespace: str
    state_dir: Path
    images: Path
    ipv4: IPv4Interface
    ipv6: IPv6Interface
    accelerator: Accelerator
    compute_id: int
    destination: str
    step: Literal["send"] = "send"


async def _work(task: Task) -> None:
    network = NetworkConfig((task.ipv4,), task.ipv6, uplink="routed")
    engine = QemuInstances(task.state_dir, ImageStore(task.images), network, task.accelerator)
    sys.stdout.write("begins\n")
    sys.stdout.flush()
    await engine.live.send(task.compute_id, Destination(task.destination), None, ignore)


if __name__ == "__main__":
    given = Task.model_validate_json(sys.stdin.read())
    enter(given.namespace)
    asyncio.run(_work(given))
