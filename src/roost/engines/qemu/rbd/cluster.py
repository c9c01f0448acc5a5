"""A region's part of a Ceph cluster, and how the cluster is asked.

Every program has a bound, and ends when this process does: a cluster that is lost holds up nobody.
"""

import asyncio
import shutil
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from roost.core.engine import EngineError, FullError
from roost.endings import Ending
from roost.engines.qemu.host.programs import BusyError, Listener, failure, finish

PACKAGES = {"rbd": "ceph-common", "rados": "ceph-common", "ceph": "ceph-common"}
QEMU_PACKAGE = "qemu-block-extra"
_QEMU_MODULES = "qemu/block-rbd.so"

SECONDS = 30.0
"""For what moves no data."""
_CONNECT_SECONDS = 10
_STALL_SECONDS = 60
"""For which a program that copies waits for one piece."""

_LOST = "the storage cluster does not answer"
_FULL = "the storage cluster is full"
_REFUSED = "the storage cluster does not permit it"
_WORDS = {
    1: _REFUSED,
    13: _REFUSED,
    108: "this host is shut out of the storage cluster",
    110: _LOST,
}
"""By the number of an error (errno), with which the programs end."""
MISSING, EXISTS = 2, 17
_BUSY, _FULL_CODES = 16, (28, 122)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the images of a region are: each region has a namespace of its name in the pool."""

    conf: Path
    user: str
    """Without `client.`."""
    pool: str
    namespace: str

    @property
    def place(self) -> str:
        return f"{self.pool}/{self.namespace}"

    def image(self, name: str) -> str:
        return f"{self.place}/{name}"

    async def rbd(
        self,
        doing: str,
        *words: str,
        ok: Container[int] = (0,),
        seconds: float | None = SECONDS,
        heard: Listener | None = None,
    ) -> tuple[int, str]:
        """How `rbd` ended, and what it printed; EngineError unless that is `ok`.

        `seconds` of None: it moves data, and may take as long as it gets on.
        """
        timeouts = (
            f"--client-mount-timeout={_CONNECT_SECONDS}",
            f"--rados-mon-op-timeout={_CONNECT_SECONDS}",
            f"--rados-osd-op-timeout={_STALL_SECONDS}",
        )
        command = ("rbd", *self._who, *timeouts, *words)
        return await self._run(doing, command, ok, seconds, heard)

    async def rados(self, doing: str, *words: str, ok: Container[int] = (0,)) -> int:
        """How `rados` ended in the namespace; EngineError unless that is `ok`."""
        place = ("--pool", self.pool, "--namespace", self.namespace)
        return (await self._run(doing, ("rados", *self._who, *place, *words), ok, SECONDS, None))[0]

    async def setting(self, doing: str, name: str) -> str:
        """What the configuration file says, without asking the cluster."""
        return (
            await self._run(doing, ("ceph-conf", *self._who, "--lookup", name), (0,), SECONDS, None)
        )[1]

    async def ceph(self, doing: str, *words: str) -> str:
        """What `ceph` prints. Raises EngineError."""
        command = ("ceph", *self._who, f"--connect-timeout={_CONNECT_SECONDS}", *words)
        return (await self._run(doing, command, (0,), SECONDS, None))[1]

    @property
    def _who(self) -> tuple[str, ...]:
        return ("--conf", str(self.conf), "--id", self.user)

    async def _run(
        self,
        doing: str,
        command: tuple[str, ...],
        ok: Container[int],
        seconds: float | None,
        heard: Listener | None,
    ) -> tuple[int, str]:
        alone = ("setpriv", "--pdeathsig=KILL")
        try:
            async with asyncio.timeout(seconds):
                done = await finish(doing, *alone, *command, heard=heard)
        except TimeoutError as error:
            raise EngineError(f"{doing}: {_LOST}") from error
        if done.code not in ok:
            raise _fault(doing, Ending.of(command, done.code, done.err or done.out))
        return done.code, done.out


def _fault(doing: str, ending: Ending) -> EngineError:
    """Logged, and in words for the volume's owner."""
    general = failure(doing, ending)
    if "timed out" in ending.said:  # Of which `ceph` says so, and ends with 1.
        return EngineError(f"{doing}: {_LOST}")
    if ending.code == MISSING:
        return EngineError(f"{doing}: its data do not exist")
    if ending.code == _BUSY:
        return BusyError(f"{doing}: it is in use")
    if ending.code in _FULL_CODES:
        return FullError(f"{doing}: {_FULL}")
    words = _WORDS.get(ending.code)
    return general if words is None else EngineError(f"{doing}: {words}")


def missing_packages() -> tuple[str, ...]:
    """Debian packages without which this host cannot use RBD images."""
    missing = [each for program, each in PACKAGES.items() if shutil.which(program) is None]
    if not any(folder.joinpath(_QEMU_MODULES).exists() for folder in Path("/usr/lib").iterdir()):
        missing.append(QEMU_PACKAGE)
    return tuple(dict.fromkeys(missing))
