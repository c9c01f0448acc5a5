"""The `roost` command, killed as by `kill -9` at a boundary of a job's steps.

Each line of its standard input names one: KIND STEP POINT. It answers `armed`.
"""

import asyncio
import os
import signal
import sys

from roost.app import roost as composition
from roost.cli import main
from roost.jobs.faults import Boundary, Crash, Faults, Point


class DeadlyFaults(Faults):
    """Faults that end the whole process."""

    def __init__(self) -> None:
        super().__init__()
        asyncio.get_running_loop().add_reader(sys.stdin, self._arm)

    def _arm(self) -> None:
        words = sys.stdin.readline().split()
        if not words:
            asyncio.get_running_loop().remove_reader(sys.stdin)
            return
        kind, step, point = words
        self.plan(Boundary(kind, step, Point[point]), _die)
        print("armed", flush=True)  # noqa: T201


def _die() -> Crash:
    os.kill(os.getpid(), signal.SIGKILL)
    return Crash()


if __name__ == "__main__":
    vars(composition)["Faults"] = DeadlyFaults
    main()
