"""`roost dashboard`: the operator's pages."""

import asyncio
import signal
import socket
from ipaddress import ip_address
from pathlib import Path

import click

from roost.app.http_server import HttpServer
from roost.app.logs import configure_logs
from roost.app.serve import plain_server
from roost.app.state import open_store
from roost.cli.options import read_served_settings, roost_options, run
from roost.cli.serve import bind
from roost.dashboard.desk import Desk
from roost.dashboard.entry import Entry
from roost.dashboard.site import Dashboard
from roost.settings import Settings


@click.command()
@roost_options
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default="127.0.0.1:8090",
    show_default=True,
    help="Of this machine alone; port 0: any free.",
)
def dashboard(state: Path | None, engines: str | None, catalog: Path | None, listen: str) -> None:
    """Show all accounts, hosts and jobs in a browser of this machine, until interrupted.

    Prints a link that is good once, and the next one when it was used. A server may run
    meanwhile.
    """
    settings = read_served_settings(state=state, engines=engines, catalog=catalog)
    configure_logs()
    with bind(listen) as listening:
        run(_serve(settings, listening))


async def _serve(settings: Settings, listening: socket.socket) -> None:
    host, port = listening.getsockname()[:2]
    if not ip_address(host).is_loopback:
        raise click.UsageError("--listen: the operator's pages are for this machine alone")
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    entry = Entry(port)

    def tell() -> None:
        click.echo(f"operator's pages, good once: http://{name}/enter?key={entry.key}")

    async with open_store(settings) as store:
        desk = Desk(settings, store)
        hosts = frozenset({name, f"localhost:{port}"})
        server = plain_server(settings, Dashboard(desk, entry, hosts, tell).app(), tell)
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, _stop, server)
        try:
            await server.serve(sockets=[listening])
        finally:
            await desk.close()


def _stop(server: HttpServer) -> None:
    server.should_exit = True
