"""`roost user`: what operators do for users of any account."""

import sys
from pathlib import Path

import click
from pydantic import TypeAdapter, ValidationError

from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.cli.options import read_served_settings, run, state_option
from roost.resources.account.queries import find_user
from roost.resources.devices.service import forget_all
from roost.resources.two_factor.service import forget
from roost.resources.users.bodies import Password
from roost.resources.users.queries import set_password
from roost.secrets import hash_password
from roost.services import Services
from roost.settings import Settings
from roost.web.checks import Checks

_PASSWORD: TypeAdapter[str] = TypeAdapter(Password)


@click.group()
def user() -> None:
    """Users of any account."""


@user.command()
@state_option
@click.argument("username")
def password(state: Path | None, username: str) -> None:
    """Set the password for the login page, from a prompt or the first line of standard input.

    The user is logged out everywhere, and no device is trusted any longer; tokens stay valid.
    """
    settings = read_served_settings(state=state)
    hashed = hash_password(_read())
    if not run(_set(settings, username, hashed)):
        raise click.ClickException(f"there is no user {username} who could log in")


@user.command("tfa-disable")
@state_option
@click.argument("username")
def disable_tfa(state: Path | None, username: str) -> None:
    """Disable two-factor authentication of a user who has lost both device and scratch code."""
    if not run(_disable_tfa(read_served_settings(state=state), username)):
        raise click.ClickException(f"there is no user {username}")


def _read() -> str:
    if sys.stdin.isatty():
        text: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        text = sys.stdin.readline().removesuffix("\n")
    try:
        return _PASSWORD.validate_python(text, context=Checks(Services()))
    except ValidationError as error:
        raise click.ClickException(error.errors()[0]["msg"]) from None


async def _set(settings: Settings, username: str, hashed: str) -> bool:
    async with open_store(settings) as store, store.transaction() as db:
        now = (await clock_beside(settings, db)).seconds()
        user_id = await set_password(db, username, hashed, now)
        if user_id is not None:
            await forget_all(db, user_id)
        return user_id is not None


async def _disable_tfa(settings: Settings, username: str) -> bool:
    async with open_store(settings) as store, store.transaction() as db:
        user_id = await find_user(db, username)
        if user_id is not None:
            await forget(db, user_id)
        return user_id is not None
