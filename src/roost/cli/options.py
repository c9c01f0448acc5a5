"""Options that several commands share, turned into settings."""

import re
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
import uvloop

from roost.app.served import last_served
from roost.app.terminal import Shown, fields, to_json, to_lines, to_table
from roost.core.billing.charges import CENT
from roost.errors import OperatorError
from roost.ids import MAX_ID
from roost.settings import MAIN_HOST, Settings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_ROWS = 10_000

ID = click.IntRange(1, MAX_ID)


class _Usd(click.ParamType[Decimal]):
    """US dollars, in whole cents."""

    name = "usd"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            usd = Decimal(value[:20])
        except InvalidOperation:
            usd = Decimal("nan")
        if not usd.is_finite() or not 0 < usd <= _MOST_USD or usd != usd.quantize(CENT):
            self.fail("must be an amount such as 25.00", param, ctx)
        return usd


USD = _Usd()
_MOST_USD = Decimal(1_000_000)

F = TypeVar("F", bound=Callable[..., None])
T = TypeVar("T")

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

_STATE = click.option(
    "--state", type=click.Path(path_type=Path, file_okay=False), help="Folder of all state."
)
_ENGINES = click.option(
    "--engines",
    type=click.Choice(["auto", "simulated", "local"]),
    help="auto: real where it can run; local: real or fail.",
)
_CATALOG = click.option(
    "--catalog", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="TOML file."
)


def ago(context: click.Context, parameter: click.Parameter, text: str | None) -> timedelta | None:
    """How long ago something is to be, for an option."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,5})([smhd])", text)
    if found is None:
        raise click.BadParameter("must be like 90s, 10m, 2h or 3d", context, parameter)
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def state_option(command: F) -> F:
    """--state alone."""
    return _STATE(command)


def roost_options(command: F) -> F:
    """--state, --engines and --catalog."""
    return _STATE(_ENGINES(_CATALOG(command)))


def json_option(command: F) -> F:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="For scripts.")(command)


def limit_option(command: F) -> F:
    """--limit."""
    amount = click.IntRange(1, MAX_ROWS)
    return click.option(
        "--limit", type=amount, default=50, show_default=True, help=f"Rows; at most {MAX_ROWS}."
    )(command)


def show_rows(
    rows: Sequence["DataclassInstance"], limit: int, columns: Sequence[str], as_json: bool
) -> None:
    """At most `limit` of the rows; says where there are more."""
    show_found([fields(row) for row in rows], limit, columns, as_json)


def show_found(rows: Sequence[Shown], limit: int, columns: Sequence[str], as_json: bool) -> None:
    """Show rows that have names for their parts already."""
    show_all(rows[:limit], columns, as_json)
    if len(rows) > limit:
        click.echo(f"There are more than {limit}: raise --limit, or ask for less.", err=True)


def show_all(rows: Sequence[Shown], columns: Sequence[str], as_json: bool) -> None:
    """The columns for people, and all that a row has for scripts."""
    click.echo(to_json(rows) if as_json else to_table(rows, columns))


def show_one(row: Shown, as_json: bool) -> None:
    click.echo(to_json(row) if as_json else to_lines(row))


def read_settings(**options: object) -> Settings:
    """Settings from the environment, where the command line does not say otherwise."""
    given = {name: value for name, value in options.items() if value is not None}
    settings = Settings.model_validate({**Settings().model_dump(), **given})
    return settings.model_copy(update={"state": settings.state.absolute()})


def read_served_settings(**options: object) -> Settings:
    """Read the settings for a command beside the server: by default as the state was served
    last."""
    settings = read_settings(**options)
    served = last_served(settings.state)
    if served is None and settings.host != MAIN_HOST:
        return settings
    if served is None:
        raise click.ClickException(f"{settings.state} has never been served")
    remembered = {"engines": served.engines, "catalog": served.catalog, "lab": served.lab}
    given = {name: value for name, value in options.items() if value is not None}
    return settings.model_copy(update={**remembered, **given})


def run(coroutine: Coroutine[None, None, T]) -> T:
    """Run a command; what an operator can mend ends it with a plain message."""
    try:
        return uvloop.run(coroutine)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error
