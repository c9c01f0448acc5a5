"""`roost serve` and `roost worker`."""

import asyncio
import contextlib
import gc
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click
import structlog

from roost.app.dialects import check_ids, read_dialects
from roost.app.engines import describe
from roost.app.first_start import TOKEN_FILE
from roost.app.logs import configure_logs
from roost.app.roost import Roost, open_roost
from roost.app.serve import Door
from roost.app.serve import serve as serve_api
from roost.app.serve import work as run_jobs
from roost.app.served import serving
from roost.app.tls import ServerCertificate
from roost.app.traces import TracesError, traces_wanted
from roost.cli.options import read_settings, roost_options, run
from roost.oauth.first_link import LINK_FILE, link_at
from roost.settings import MAIN_HOST, Settings
from roost.web.static_files import missing_libraries

_STOP_SECONDS = 9.5
_LAST_PORT = 65535
_SWITCH_SECONDS = 0.001
"""How long a thread that computes keeps requests waiting, each time that they go on; Python's own
five milliseconds add up."""

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)

_log = structlog.get_logger(__name__)


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
        yield [Door(stack.enter_context(_bind(listen)), dialect) for dialect, listen in wanted]


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


def _url(listening: socket.socket, certificate: ServerCertificate | None = None) -> str:
    host, port = listening.getsockname()[:2]
    return f"{'http' if certificate is None else 'https'}://{host}:{port}"


def _bind(listen: str) -> socket.socket:
    host, _, port = listen.rpartition(":")
    if not host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > _LAST_PORT:
        raise click.UsageError(f"cannot listen on {listen or 'nothing'}: it must be HOST:PORT")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=1024)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {listen}: {error}") from error


async def _serve(settings: Settings) -> None:
    certificate = _certificate(settings)
    with serving(settings) as opened, _open_doors(settings) as doors:
        async with open_roost(settings) as roost:
            url = _url(doors[0].listening, certificate)
            opened(url)
            _greet(roost, settings.public_url or url)
            for door in doors[1:]:
                assert door.dialect is not None
                check_ids(door.dialect, roost.catalog)
                click.echo(f"{door.dialect.name}: {_url(door.listening, certificate)}")
            ready = f"roost ready {url}"
            stop = _stop_on_signals()
            if certificate is not None:
                certificate.renew_on_signal()
            await serve_api(roost, doors, lambda: _be_ready(ready), stop, certificate)


async def _work(settings: Settings) -> None:
    with contextlib.ExitStack() as stack:
        listen = settings.metrics_listen
        monitored = None if listen is None else stack.enter_context(_bind(listen))
        ready = "roost worker ready"
        if monitored is not None:
            ready += f", metrics at {_url(monitored)}/metrics"
        async with open_roost(settings) as roost:
            click.echo(describe(roost.table))
            await run_jobs(roost, lambda: _be_ready(ready), _stop_on_signals(), monitored)


def _be_ready(line: str) -> None:
    """What a start has made stays: to look at it again would hold up everything for 70 ms."""
    gc.freeze()
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
