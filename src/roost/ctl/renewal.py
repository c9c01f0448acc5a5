"""Tokens of a login by browser, which last for two hours and are then renewed."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlencode

from roost.commands.written import Value
from roost.ctl import profiles
from roost.ctl.client import Request, send
from roost.ctl.errors import NOT_ALLOWED, REFUSED, CommandError
from roost.ctl.profiles import Profile
from roost.ctl.show import as_record

_EARLY_SECONDS = 60
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
Login = Callable[[], Profile]
"""The profile of a command, asked for with each use: what takes hours outlives a token."""


def login_of(wanted: str | None) -> Login:
    """The login of one profile, whichever others use meanwhile."""
    first = current(wanted)
    if not first.refresh_token:
        return lambda: first
    name = profiles.chosen_name(wanted)
    return lambda: replace(current(name, first.ca), ca=first.ca)


def current(wanted: str | None, ca: str | None = None) -> Profile:
    """The profile to use, its token renewed where it is about to end.

    One command renews and others wait for it: a refresh token that is used twice ends the login.
    """
    profile = profiles.choose(wanted)
    if not _is_due(profile):
        return profile
    with profiles.locked():
        name, known = profiles.chosen_name(wanted), profiles.read()
        kept = known.by_name.get(name)
        if kept is not None and _is_due(kept):
            new = replace(_renewed(replace(kept, ca=ca or profile.ca)), ca=kept.ca)
            profiles.write(replace(known, by_name={**known.by_name, name: new}))
    return profiles.choose(wanted)


def end(profile: Profile) -> None:
    """End a login by browser at the server; CommandError."""
    form = {"client_id": profile.client_id or "", "token": profile.refresh_token or ""}
    asked = Request("POST", "/oauth/revoke", _FORM, urlencode(form).encode())
    send(replace(profile, token=""), asked)


def ask_token(profile: Profile, form: Mapping[str, str]) -> Profile:
    """Have the server's OAuth endpoint fill a profile; CommandError."""
    body = urlencode({**form, "client_id": profile.client_id or ""}).encode()
    asked = Request("POST", "/oauth/token", _FORM, body)
    given = as_record(send(replace(profile, token=""), asked).json())
    life = given["expires_in"]
    assert isinstance(life, int)
    return replace(
        profile,
        token=str(given["access_token"]),
        refresh_token=_text(given.get("refresh_token")),
        expires=time.time() + life,
    )


def _renewed(profile: Profile) -> Profile:
    form = {"grant_type": "refresh_token", "refresh_token": profile.refresh_token or ""}
    try:
        return ask_token(profile, form)
    except CommandError as error:
        if error.exit_code != REFUSED:
            raise
        text = "this login has ended: `roostctl auth login --browser`"
        raise CommandError(text, NOT_ALLOWED) from None


def _is_due(profile: Profile) -> bool:
    ends = profile.expires
    return bool(profile.refresh_token) and ends is not None and time.time() > ends - _EARLY_SECONDS


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
