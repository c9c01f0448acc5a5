"""Events as they come: each as a line."""

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus

import click

from roost.app.table import line
from roost.ctl.client import Answer, Request, checked, headers_of, opened, unreachable
from roost.ctl.renewal import Login
from roost.ctl.show import as_record

_PAUSES = (1, 3, 10)
"""Seconds before one attempt after another to go on."""
_ID = "id: "


def follow(login: Login, request: Request, as_json: bool, endless: bool) -> None:
    """Until the stream ends by itself. An endless one goes on after a break where it was.

    CommandError when it is refused, or the server is not reached any more.
    """
    for text in _lines(login, request, endless):
        _show(text, as_json)


def _lines(login: Login, request: Request, endless: bool) -> Iterator[str]:
    """What breaks where they are shown is no break of the stream, and ends it."""
    last, seen, failures = "", "", 0
    while True:
        profile = login()
        headers = {**request.headers, **({"Last-Event-ID": last} if last else {})}
        error: Exception | None = None
        try:
            with opened(profile, replace(request, headers=headers)) as response:
                if response.status >= 300:
                    checked(Answer(response.status, headers_of(response), response.read()))
                failures = 0
                while (text := response.readline()).endswith(b"\n"):
                    said = text.decode(errors="replace").rstrip("\r\n")
                    if said.startswith(_ID):
                        seen = said.removeprefix(_ID)
                    elif not said:  # The end of a message: one that has none comes again.
                        last = seen
                    yield said
        except (OSError, http.client.HTTPException) as broken:
            error = broken
        if not endless and error is None:
            return
        if error is not None and failures == len(_PAUSES):
            raise unreachable(profile, error)
        time.sleep(_PAUSES[failures])
        failures += 1


def _show(text: str, as_json: bool) -> None:
    name, _, data = text.partition(": ")
    if name == "event" and data == "reset":
        click.echo("What came before is not known any more: read the list anew.", err=True)
    if name != "data":
        return
    event = as_record(Answer(HTTPStatus.OK, {}, data.encode()).json())
    if event and as_json:
        click.echo(json.dumps(event))
    elif event:
        about = event.get("entity")
        entity = about if isinstance(about, Mapping) else {}
        what = f"{event.get('created')} {event.get('action')} {event.get('status')}"
        click.echo(line(f"{what} {entity.get('type', '')} {entity.get('label', '')}"))
