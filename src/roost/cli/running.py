"""What `roost serve` and `roost worker` do when their database is there."""

import asyncio
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click
import structlog

from roost.app.dialects import check_ids
from roost.app.door import Door
from roost.app.engines import describe
from roost.app.first_start import TOKEN_FILE
from roost.app.garbage import keep_collections_short
from roost.app.roost import Roost, open_roost
from roost.app.serve import serve, work
from roost.app.tls import ServerCertificate
from roost.oauth.first_link import LINK_FILE, link_at
from roost.settings import Settings
from roost.store import Store
from roost.web.static_files import missing_libraries

_STOP_SECONDS = 9.5
_SWITCH_SECONDS = 0.001
"""How long a thread that computes keeps requests waiting, each time that they go on; Python's own
five milliseconds add up."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Running:
    """A server or a worker, on a database that is open."""

    settings: Settings
    store: Store

    async def serve(
        self,
        doors: Sequence[Door],
        certificate: ServerCertificate | None,
        opened: Callable[[str | None], None],
    ) -> None:
        async with open_roost(self.settings, store=self.store) as roost:
            url = _url(doors[0].listening, certificate)
            opened(url)
            _greet(roost, self.settings.public_url or url)
            for door in doors[1:]:
                assert door.dialect is not None
                check_ids(door.dialect, roost.catalog)
                click.echo(f"{door.dialect.name}: {_url(door.listening, certificate)}")
            ready = f"roost ready {url}"
            stop = _stop_on_signals()
            if certificate is not None:
                certificate.renew_on_signal()
            await serve(roost, doors, lambda: _be_ready(ready), stop, certificate)

    async def work(self, monitored: socket.socket | None) -> None:
        ready = "roost worker ready"
        if monitored is not None:
            ready += f", metrics at {_url(monitored)}/metrics"
        async with open_roost(self.settings, store=self.store) as roost:
            click.echo(describe(roost.table))
            await work(roost, lambda: _be_ready(ready), _stop_on_signals(), monitored)


def _url(listening: socket.socket, certificate: ServerCertificate | None = None) -> str:
    host, port = listening.getsockname()[:2]
    return f"{'http' if certificate is None else 'https'}://{host}:{port}"


def _be_ready(line: str) -> None:
    keep_collections_short()
    sys.setswitchinterval(_SWITCH_SECONDS)
    click.echo(line)


def _stop_on_signals() -> asyncio.Event:
    """Set by the first signal. Whatever does not end then is left behind as by a crash."""
    stop = asyncio.Event()

    def begin() -> None:
        if not stop.is_set():
            stop.set()
            threading.Thread(target=_end_at_last, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, begin)
    return stop


def _end_at_last() -> None:
    """Jobs that were running are taken over when their lease has lapsed."""
    time.sleep(_STOP_SECONDS)
    _log.error("stop_forced", seconds=_STOP_SECONDS)
    sys.stderr.flush()
    os._exit(1)


def _greet(roost: Roost, url: str) -> None:
    click.echo(describe(roost.table))
    state = roost.settings.state
    token = state / TOKEN_FILE
    if token.exists():
        click.echo(f"token of user admin: {token}")
    if (link := link_at(state, url)) is not None:
        # Logs are read by others than the operator.
        shown = link if sys.stdout.isatty() else f"the link in {state / LINK_FILE}"
        click.echo(f"first login of user admin, good once: {shown}")
    if missing := missing_libraries():
        names = ", ".join(missing)
        click.echo(f"pages lack {names}: `python3 scripts/setup.py` in a checkout fetches them")
