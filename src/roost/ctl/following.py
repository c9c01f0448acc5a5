"""Events as they come: each as a line."""

import http.client
import json
import time
from dataclasses import replace

import click

from roost.app.table import line
from roost.ctl.client import Answer, Request, checked, headers_of, opened, unreachable
from roost.ctl.profiles import Profile

_PAUSES = (1, 3, 10)
"""Seconds before one attempt after another to go on."""


def follow(profile: Profile, request: Request, as_json: bool, endless: bool) -> None:
    """Until the stream ends by itself. An endless one goes on after a break where it was.

    CommandError when it is refused, or the server is not reached any more.
    """
    last, failures = "", 0
    while True:
        headers = {**request.headers, **({"Last-Event-ID": last} if last else {})}
        error: Exception | None = None
        try:
            with opened(profile, replace(request, headers=headers)) as response:
                if response.status >= 300:
                    checked(Answer(response.status, headers_of(response), response.read()))
                failures = 0
                while text := response.readline():
                    last = _show(text.decode(errors="replace").rstrip("\r\n"), as_json) or last
        except (OSError, http.client.HTTPException) as broken:
            error = broken
        if not endless and error is None:
            return
        if error is not None and failures == len(_PAUSES):
            raise unreachable(profile, error)
        time.sleep(_PAUSES[failures])
        failures += 1


def _show(text: str, as_json: bool) -> str | None:
    """Show a message's data; the number where the stream is, if the line has one."""
    name, _, data = text.partition(": ")
    if name == "id":
        return data
    if name == "data" and as_json:
        click.echo(data)
    elif name == "data":
        event = json.loads(data)
        entity = event.get("entity") or {}
        what = f"{event['created']} {event['action']} {event['status']}"
        click.echo(line(f"{what} {entity.get('type', '')} {entity.get('label', '')}"))
    return None
