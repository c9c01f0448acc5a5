"""`roost host`: the machines that have guests."""

from pathlib import Path

import click

from roost.app.operator import drains, hosts, takeovers
from roost.app.operator.hosts import ListedHost
from roost.app.state import open_store
from roost.app.terminal import Shown
from roost.cli.options import (
    json_option,
    limit_option,
    read_served_settings,
    run,
    show_one,
    show_rows,
    state_option,
)
from roost.core.hosts.holdings import spelled
from roost.settings import Settings

_COLUMNS = (
    "name",
    "state",
    "alive",
    "instances",
    "running",
    "leaving",
    "coming",
    "promised_memory",
    "memory",
    "free",
    "seen",
)


@click.group()
def host() -> None:
    """The machines that have guests. A server may run meanwhile."""


@host.command("list")
@state_option
@json_option
def list_(state: Path | None, as_json: bool) -> None:
    """List hosts by name, with what they hold and have left (MB)."""
    rows = run(_list(read_served_settings(state=state)))
    show_rows(rows, len(rows), _COLUMNS, as_json)


@host.command()
@state_option
@click.argument("name")
@limit_option
@json_option
def show(state: Path | None, name: str, limit: int, as_json: bool) -> None:
    """Show a host and its first instances."""
    show_one(run(_describe(read_served_settings(state=state), name, limit)), as_json)


@host.command()
@state_option
@click.option(
    "--catalog", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="TOML file."
)
@click.argument("name")
@click.option("--at-once", type=click.IntRange(1, 16), default=2, show_default=True)
@click.option("--stay", is_flag=True, help="Move nothing: only place nothing new there.")
@click.option("--off", is_flag=True, help="Power guests off for the way, and boot them there.")
def drain(
    state: Path | None, catalog: Path | None, name: str, at_once: int, stay: bool, off: bool
) -> None:
    """Place nothing new on a host, and bring its instances and NodeBalancers to others.

    Guests that run go on running where they can. Ends with 1 when some are left; the
    next call goes on with them.
    """
    settings = read_served_settings(state=state, catalog=catalog)
    left = run(_drain(settings, name, 0 if stay else at_once, live=not off))
    if left and not stay:
        raise click.ClickException(f"{left} instances and NodeBalancers are left on host {name}")
    click.echo(f"host {name} is draining, and has {left} instances and NodeBalancers")


@host.command()
@state_option
@click.argument("name")
def undrain(state: Path | None, name: str) -> None:
    """Let a host have something new again."""
    run(_undrain(read_served_settings(state=state), name))
    click.echo(f"host {name} is up")


@host.command()
@state_option
@click.argument("name")
@click.option("--off", is_flag=True, help="You have seen to it that the machine is off.")
@click.option(
    "--by",
    "program",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A program that powers it off: told the name, it ends with 0 when the machine is off.",
)
def fence(state: Path | None, name: str, off: bool, program: Path | None) -> None:
    """Keep a host that is dead from serving, so that another one may take over.

    Its NodeBalancers go to other hosts at once; the next call goes on with those that are left.
    A worker of it that comes back ends its guests, and itself.
    """
    if off == (program is not None):
        raise click.UsageError("either --off or --by says that the machine is off")
    said = run(_fence(read_served_settings(state=state), name, program))
    click.echo("\n".join((f"host {name} is fenced", *said)))


@host.command("take-over")
@state_option
@click.argument("name")
@click.option("--host", "other", metavar="NAME", required=True, help="Who takes over.")
@click.option(
    "--without-disks", is_flag=True, help="Also where disks are missing there: they are lost."
)
def take_over(state: Path | None, name: str, other: str, without_disks: bool) -> None:
    """Give all that a fenced host had to another one.

    Its disks, volumes and backups must be in the state folder of that host already; it looks, and
    what is missing is named and nothing is given.
    """
    settings = read_served_settings(state=state)
    given = run(_take_over(settings, name, other, without_disks=without_disks))
    click.echo(f"host {other} has {spelled(given)} of host {name}")


@host.command()
@state_option
@click.argument("name")
def forget(state: Path | None, name: str) -> None:
    """Forget a host that has nothing and whose worker is stopped."""
    run(_forget(read_served_settings(state=state), name))
    click.echo(f"host {name} is forgotten")


async def _list(settings: Settings) -> list[ListedHost]:
    async with open_store(settings) as store:
        return await hosts.list_hosts(store)


async def _describe(settings: Settings, name: str, limit: int) -> Shown:
    async with open_store(settings) as store:
        return await hosts.describe(store, name, limit)


async def _drain(settings: Settings, name: str, at_once: int, *, live: bool) -> int:
    async with open_store(settings) as store:
        return await drains.drain(store, settings, name, at_once, click.echo, live=live)


async def _undrain(settings: Settings, name: str) -> None:
    async with open_store(settings) as store:
        await hosts.undrain(store, name)


async def _fence(settings: Settings, name: str, program: Path | None) -> list[str]:
    async with open_store(settings) as store:
        return await takeovers.fence(store, name, program)


async def _take_over(
    settings: Settings, name: str, other: str, *, without_disks: bool
) -> dict[str, int]:
    async with open_store(settings) as store:
        return await takeovers.take_over(store, name, other, without_disks=without_disks)


async def _forget(settings: Settings, name: str) -> None:
    async with open_store(settings) as store:
        await hosts.remove(store, name)
