"""The `roost` command with a data plane that hangs, and does not even heed a cancellation.

One sort of hanging work each for `start` and for `delete`: a thread, and a task that goes on.
"""

import asyncio
import contextlib
import time

from roost.cli import main
from roost.engines.simulated import providers
from roost.engines.simulated.instances import SimulatedInstances
from roost.resources.compute.engine import InstanceSpec
from roost.threads import DISK


class StubbornInstances(SimulatedInstances):
    """Its guests neither start nor go away."""

    async def start(self, spec: InstanceSpec) -> None:
        print("hangs in a thread", flush=True)  # noqa: T201
        await DISK.run(time.sleep, 600)

    async def delete(self, compute_id: int) -> None:
        print("hangs in a task", flush=True)  # noqa: T201
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(600)


if __name__ == "__main__":
    vars(providers)["SimulatedInstances"] = StubbornInstances
    main()
