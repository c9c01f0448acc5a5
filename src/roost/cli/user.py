"""`roost user`: what operators do for users of any account."""

import sys
from pathlib import Path

import click
from pydantic import TypeAdapter, ValidationError

from roost.app.roost import open_store
from roost.cli.options import read_served_settings, run, state_option
from roost.clock import Clock
from roost.resources.users.bodies import Password
from roost.resources.users.queries import set_password
from roost.secrets import hash_password
from roost.settings import Settings

_PASSWORD: TypeAdapter[str] = TypeAdapter(Password)


@click.group()
def user() -> None:
    """Users of any account."""


@user.command()
@state_option
@click.argument("username")
def password(state: Path | None, username: str) -> None:
    """Set the password for the login page, from a prompt or the first line of standard input.

    The user is logged out everywhere; tokens stay valid.
    """
    settings = read_served_settings(state=state)
    hashed = hash_password(_read())
    if not run(_set(settings, username, hashed)):
        raise click.ClickException(f"there is no user {username} who could log in")


def _read() -> str:
    if sys.stdin.isatty():
        text: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        text = sys.stdin.readline().removesuffix("\n")
    try:
        return _PASSWORD.validate_python(text)
    except ValidationError as error:
        raise click.ClickException(error.errors()[0]["msg"]) from None


async def _set(settings: Settings, username: str, hashed: str) -> bool:
    async with open_store(settings) as store:
        return await set_password(store, username, hashed, Clock().seconds())
