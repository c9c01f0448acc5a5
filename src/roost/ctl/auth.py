"""`roostctl auth`: who one is, and where."""

import os
from dataclasses import replace
from pathlib import Path

import click

from roost.app.table import format_table, line
from roost.ctl import profiles
from roost.ctl.client import Request, send
from roost.ctl.errors import NOT_ALLOWED, CommandError
from roost.ctl.profiles import DEFAULT, Profile
from roost.ctl.renewal import current, end
from roost.ctl.show import as_record
from roost.ctl.values import read_text

_PORT = 8976
_PROFILE = click.option("--profile", metavar="NAME", help="Which one; ROOST_PROFILE, or the last.")


@click.group()
def auth() -> None:
    """Log in, log out, and go from one cloud to another."""


@auth.command()
@click.option("--profile", metavar="NAME", default=DEFAULT, show_default=True)
@click.option("--url", metavar="URL", help="Of the server; else ROOST_URL, or it is asked for.")
@click.option(
    "--ca",
    envvar="ROOST_CA",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    help="A file of certificates that are trusted too, as `roost tls --print-ca` prints; ROOST_CA.",
)
@click.option("--token", metavar="@FILE", help="A file with the token, else it is asked for.")
@click.option("--browser", is_flag=True, help="Log in on a page of the server instead.")
@click.option("--client-id", metavar="ID", help="With --browser: of a public OAuth client.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=_PORT,
    show_default=True,
    help="With --browser: of the client's redirect URI, http://127.0.0.1:PORT/callback.",
)
@click.option("--scopes", default="*", show_default=True, help="With --browser: what it may do.")
def login(
    profile: str,
    url: str | None,
    ca: str | None,
    token: str | None,
    browser: bool,
    client_id: str | None,
    port: int,
    scopes: str,
) -> None:
    """Keep an address and a token in a profile, and use it from now on."""
    url = url or os.environ.get("ROOST_URL") or str(click.prompt("URL", err=True))
    new = Profile(profiles.checked_url(url), "", ca)
    if not new.url.startswith("https:") and not _is_here(new.url):
        click.echo("Warning: without TLS others can read the token on its way.", err=True)
    if browser:
        from roost.ctl.browser import login as by_browser

        if client_id is None:
            raise click.UsageError("--browser needs --client-id.")
        new = by_browser(replace(new, client_id=client_id), port, scopes)
    else:
        new = replace(new, token=_token(token))
    who = as_record(send(new, Request("GET", "/v4/profile", again=True)).json())
    profiles.keep(profile, new)
    click.echo(line(f"Logged in to {new.url} as {who.get('username')}."))


@auth.command()
@_PROFILE
def logout(profile: str | None) -> None:
    """Forget a profile. A login by browser ends; a token of your own stays good elsewhere.

    It is forgotten also when the server is not reached any more.
    """
    name = profiles.chosen_name(profile)
    known = profiles.read().by_name.get(name)
    if known is None:
        raise CommandError(f"there is no profile {name}", NOT_ALLOWED)
    try:
        if known.refresh_token:
            end(replace(known, ca=os.environ.get("ROOST_CA") or known.ca))
    except CommandError as error:
        told = "The profile is forgotten, but the login is good until it is ended in the console."
        raise CommandError(f"{error.message}\n{told}", error.exit_code) from None
    finally:
        profiles.drop(name)
    click.echo(f"Logged out of {known.url}.")


@auth.command("list")
def list_() -> None:
    """List profiles; * is the one that is used."""
    found = profiles.read()
    rows = [
        ["*" if name == found.current else "", name, each.url]
        for name, each in found.by_name.items()
    ]
    click.echo(format_table(["", "PROFILE", "URL"], rows))


@auth.command()
@click.argument("name")
def use(name: str) -> None:
    """Use another profile from now on."""
    if name not in profiles.read().by_name:
        raise CommandError(f"there is no profile {name}", NOT_ALLOWED)
    profiles.use(name)


@auth.command()
@_PROFILE
def status(profile: str | None) -> None:
    """Say where commands go, and as whom."""
    known = current(profile)
    answer = send(known, Request("GET", "/v4/profile", again=True))
    who = as_record(answer.json())
    scopes = answer.headers.get("x-oauth-scopes", "unknown")
    click.echo(line(f"{who.get('username')} at {known.url}, scopes: {scopes}"))


def _token(given: str | None) -> str:
    """What is on a command line can be seen by others."""
    if given is None:
        return str(click.prompt("Token", hide_input=True, err=True)).strip()
    if not given.startswith("@"):
        raise click.UsageError("--token: say @FILE; others see what is on a command line.")
    return read_text(f"@{Path(given[1:])}", "--token").strip()


def _is_here(url: str) -> bool:
    from urllib.parse import urlsplit

    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
