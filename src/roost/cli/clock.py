"""`roost clock`: the clock of a server that runs with --lab."""

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import aiohttp
import click
from pydantic import BaseModel, ValidationError

from roost.app.first_start import TOKEN_FILE
from roost.cli.options import read_settings

F = TypeVar("F", bound=Callable[..., None])

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

_TIMEOUT = aiohttp.ClientTimeout(total=30)


class _Answer(BaseModel):
    now: str
    offset_seconds: float


class _Duration(click.ParamType[float]):
    name = "duration"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        match = re.fullmatch(r"(\d+)([smhdw])", value, re.ASCII)
        if match is None:
            self.fail(f"{value} is not a duration such as 90s, 15m, 3h, 30d or 2w", param, ctx)
        return timedelta(**{_UNITS[match[2]]: int(match[1])}).total_seconds()


def _server_options(command: F) -> F:
    url = click.option("--url", default="http://127.0.0.1:8080", show_default=True)
    state = click.option(
        "--state",
        type=click.Path(path_type=Path, file_okay=False),
        help="Where the server's admin.token is.",
    )
    return url(state(command))


@click.group()
def clock() -> None:
    """See or move the clock of a server with a lab."""


@clock.command()
@_server_options
def show(url: str, state: Path | None) -> None:
    """Print the server's time, UTC."""
    _run(url, state, None)


@clock.command("set")
@click.argument("time")
@_server_options
def set_(time: str, url: str, state: Path | None) -> None:
    """Go on from TIME, such as 2030-01-31T12:00:00 (UTC)."""
    _run(url, state, {"now": time})


@clock.command()
@click.argument("duration", type=_Duration())
@_server_options
def advance(duration: float, url: str, state: Path | None) -> None:
    """Skip DURATION, such as 90s, 15m, 3h or 30d."""
    _run(url, state, {"advance": duration})


def _run(url: str, state: Path | None, change: Mapping[str, str | float] | None) -> None:
    file = read_settings(state=state).state / TOKEN_FILE
    try:
        token = file.read_text().strip()
        status, body = asyncio.run(_ask(f"{url.rstrip('/')}/lab/clock", token, change))
    except (OSError, TimeoutError, aiohttp.ClientError) as error:
        raise click.ClickException(str(error) or type(error).__name__) from error
    try:
        answer = _Answer.model_validate_json(body)
    except ValidationError:
        hint = "; does it run with --lab?" if status == 404 else ""
        raise click.ClickException(f"the server answers {status}: {body}{hint}") from None
    click.echo(f"{answer.now}  ({timedelta(seconds=answer.offset_seconds)} from real time)")


async def _ask(url: str, token: str, change: Mapping[str, str | float] | None) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"}
    method = "GET" if change is None else "PUT"
    async with (
        aiohttp.ClientSession(headers=headers, timeout=_TIMEOUT) as session,
        session.request(method, url, json=change) as response,
    ):
        return response.status, await response.text()
