"""The PostgreSQL server that Roost runs for itself when the operator names none."""

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import Mapping
from pathlib import Path

import structlog

from roost.store.cluster import SETTINGS, Cluster, ClusterError, Prepared
from roost.store.owner import OWNER, make_owner

_log = structlog.get_logger(__name__)

_GUEST_POLL = 0.02
_WATCH_SECONDS = 0.5
_START_SECONDS = 60.0


class EmbeddedServer:
    """A server below `state_dir`, shared by all Roost processes of this machine that use it.

    One process supervises it: it launches the server, or adopts one that outlived a killed
    supervisor, restarts it when it dies, and stops it. The others are guests; the first of them
    to notice takes over when the supervisor ends.
    """

    def __init__(
        self,
        state_dir: Path,
        programs: Path | None = None,
        settings: Mapping[str, str] = SETTINGS,
        prepared: Prepared | None = None,
    ) -> None:
        """Without data it begins with those that are `prepared`, or else with nothing."""
        self.cluster = Cluster(state_dir / "postgres", programs, settings, prepared)
        self._lock: int | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def dsn(self) -> str:
        """For the role that owns the database."""
        return self.cluster.dsn(user=OWNER)

    @property
    def supervises(self) -> bool:
        return self._lock is not None

    async def start(self) -> None:
        """Return when the server accepts connections.

        Raises ClusterError or PermissionError with the reason when it cannot.
        """
        self.cluster.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        deadline = time.monotonic() + _START_SECONDS
        try:
            while not await self._ensure():
                if time.monotonic() > deadline:
                    raise ClusterError("its server does not get ready")
                await asyncio.sleep(_GUEST_POLL)
            await make_owner(self.cluster.dsn())
        except BaseException:
            await self.stop()
            raise
        self._watch = asyncio.create_task(self._keep_running())

    async def stop(self) -> None:
        """Stop the server if it is ours; a guest leaves it running. At most 10 seconds."""
        if self._watch is not None:
            self._watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watch
            self._watch = None
        try:
            if self.supervises:
                await self.cluster.stop()
        finally:
            self._unlock()

    async def _ensure(self) -> bool:
        """Whether the server is ready; launches it when that is our task."""
        server = self.cluster.postmaster()
        if not self._try_lock():
            return server is not None and server.ready
        if server is None:
            await self.cluster.launch()
            return True
        # One that an earlier process has told to stop makes room for another.
        return server.ready

    async def _keep_running(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            try:
                await self._ensure()
            except (ClusterError, OSError) as error:
                _log.error("postgres_restart_failed", error=str(error))

    def _try_lock(self) -> bool:
        if self._lock is not None:
            return True
        lock = os.open(self.cluster.directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._lock = lock
        return True

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
