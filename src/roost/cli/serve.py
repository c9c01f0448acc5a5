"""`roost serve` and `roost worker`.

The database is started while the rest of the program is imported, as each takes about a second.
"""

import asyncio
import contextlib
import os
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roost.app.dialects import read_dialects
from roost.app.door import Door
from roost.app.logs import configure_logs
from roost.app.served import serving
from roost.app.state import open_store
from roost.app.tls import ServerCertificate
from roost.app.traces import TracesError, traces_wanted
from roost.cli.lazy import load
from roost.cli.options import read_settings, roost_options, run
from roost.settings import MAIN_HOST, Settings
from roost.store import Store
from roost.threads import DISK

if TYPE_CHECKING:
    from roost.cli.running import Running

_LAST_PORT = 65535

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


_TRACES = click.option(
    "--traces",
    metavar="URL",
    help="Send traces to this collector of OpenTelemetry, such as http://127.0.0.1:4318.",
)


@click.command()
@roost_options
@click.option("--listen", metavar="HOST:PORT", help="Default 127.0.0.1:8080; port 0: any free.")
@click.option(
    "--dialect",
    "dialects",
    multiple=True,
    metavar="NAME=HOST:PORT",
    help="Listen there too, in another cloud's words: linode. May be repeated.",
)
@click.option("--tls-cert", type=_FILE, help="PEM: speak TLS, with this certificate.")
@click.option("--tls-key", type=_FILE, help="PEM: its key. `roost tls` makes both.")
@click.option("--lab", is_flag=True, default=None, help="Offer /lab: clock, latency, faults.")
@click.option("--admin-email", help="Of the account and the user that the first start makes.")
@click.option("--no-worker", is_flag=True, help="Answer requests only; run jobs elsewhere.")
@_TRACES
def serve(
    state: Path | None,
    engines: str | None,
    catalog: Path | None,
    listen: str | None,
    dialects: tuple[str, ...],
    tls_cert: Path | None,
    tls_key: Path | None,
    lab: bool | None,
    admin_email: str | None,
    no_worker: bool,
    traces: str | None,
) -> None:
    """Serve the API, and run jobs in the same process."""
    settings = read_settings(
        state=state,
        engines=engines,
        catalog=catalog,
        listen=listen,
        dialects=",".join(dialects) or None,
        tls_cert=tls_cert,
        tls_key=tls_key,
        lab=lab,
        admin_email=admin_email,
        worker=False if no_worker else None,
        traces=traces,
    )
    _check_traces(settings)
    if settings.host != MAIN_HOST:
        raise click.UsageError("roost serve is of the main host; for others run roost worker")
    configure_logs()
    run(_serve(settings))


@click.command()
@roost_options
@click.option("--lab", is_flag=True, default=None, help="Go by the time that a lab has set.")
@_TRACES
@click.option(
    "--host", metavar="NAME", help="Run the guests of this host; default: of the main one."
)
@click.option("--metrics-listen", metavar="HOST:PORT", help="Show /metrics and /healthz there.")
def worker(
    state: Path | None,
    engines: str | None,
    catalog: Path | None,
    lab: bool | None,
    traces: str | None,
    host: str | None,
    metrics_listen: str | None,
) -> None:
    """Run jobs only; any number of workers share one DATABASE_URL."""
    settings = read_settings(
        state=state,
        engines=engines,
        catalog=catalog,
        lab=lab,
        traces=traces,
        host=host,
        metrics_listen=metrics_listen,
    )
    _check_traces(settings)
    configure_logs()
    run(_work(settings))


@contextlib.contextmanager
def _open_doors(settings: Settings) -> Iterator[list[Door]]:
    """The API's first."""
    try:
        wanted = [(None, settings.listen), *read_dialects(settings.dialects)]
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with contextlib.ExitStack() as stack:
        yield [Door(stack.enter_context(bind(listen)), dialect) for dialect, listen in wanted]


def _check_traces(settings: Settings) -> None:
    try:
        traces_wanted(settings, os.environ)
    except TracesError as error:
        raise click.UsageError(str(error)) from error


def _certificate(settings: Settings) -> ServerCertificate | None:
    try:
        return ServerCertificate.of(settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def bind(listen: str) -> socket.socket:
    """A socket that listens there; click's errors say why there is none."""
    host, _, port = listen.rpartition(":")
    if not host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > _LAST_PORT:
        raise click.UsageError(f"cannot listen on {listen or 'nothing'}: it must be HOST:PORT")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=1024)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {listen}: {error}") from error


def _running() -> "type[Running]":
    load("roost.cli.running")
    from roost.cli.running import Running

    return Running


@asynccontextmanager
async def _started(settings: Settings) -> AsyncIterator[tuple[Store, "type[Running]"]]:
    importing = asyncio.create_task(DISK.run(_running))
    try:
        async with open_store(settings) as store:
            yield store, await importing
    finally:
        await asyncio.wait({importing})


async def _serve(settings: Settings) -> None:
    certificate = _certificate(settings)
    with serving(settings) as opened, _open_doors(settings) as doors:
        async with _started(settings) as (store, running):
            await running(settings, store).serve(doors, certificate, opened)


async def _work(settings: Settings) -> None:
    with contextlib.ExitStack() as stack:
        listen = settings.metrics_listen
        monitored = None if listen is None else stack.enter_context(bind(listen))
        async with _started(settings) as (store, running):
            await running(settings, store).work(monitored)
