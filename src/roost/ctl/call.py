"""What a command does: its call, and what is shown of the answer."""

import http.client
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import click

from roost.commands.operations import Command
from roost.commands.written import Value, as_curl, fill
from roost.ctl import profiles
from roost.ctl.client import (
    Answer,
    Request,
    checked,
    headers_of,
    opened,
    send,
    send_file,
    unreachable,
)
from roost.ctl.command import arguments_of, parameter
from roost.ctl.confirming import confirm
from roost.ctl.errors import CommandError
from roost.ctl.files import read_upload, save
from roost.ctl.filters import build_filter
from roost.ctl.following import follow
from roost.ctl.profiles import Profile
from roost.ctl.renewal import Login, login_of
from roost.ctl.show import Row, as_record, choose_columns, rows_of, show_record, show_rows
from roost.ctl.values import read_body
from roost.ctl.waiting import Work, number_of, view

_PAGE = 500
"""Rows of a page where all are wanted."""
_PIECE = 1 << 16
_EXAMPLE = "http://127.0.0.1:8080"
"""Where nobody is logged in to show a call to."""


@dataclass(frozen=True, slots=True)
class _Given:
    """The options that are no fields."""

    all: bool = False
    columns: str | None = None
    curl: bool = False
    desc: bool = False
    dry_run: bool = False
    file: str | None = None
    filter: tuple[str, ...] = ()
    json: bool = False
    order_by: str | None = None
    output: str | None = None
    page: int | None = None
    profile: str | None = None
    wait: bool = False
    yes: bool = False


@dataclass(frozen=True, slots=True)
class _Call:
    command: Command
    login: Login
    arguments: Mapping[str, str]
    request: Request
    given: _Given

    @property
    def profile(self) -> Profile:
        return self.login()


def perform(command: Command, given: dict[str, object]) -> None:
    """Do what the command line says; CommandError and UsageError."""
    arguments = dict(zip(command.arguments, arguments_of(command, given), strict=True))
    if not all(arguments.values()):
        raise click.UsageError("An argument is empty.")
    general = {name: given[name] for name in _Given.__dataclass_fields__ if name in given}
    options = _Given(**general)  # type: ignore[arg-type]
    choose_columns(options.columns, command.columns)
    fields = {option.name: given[parameter(option.name)] for option in command.options}
    whole = given.get("body")
    body = None
    if command.body:
        body = read_body(command.options, fields, whole if isinstance(whole, str) else None)
    query = {name: text for name in command.query if (text := given[f"query_{name}"]) is not None}
    path = fill(command, command.path, arguments)
    request = Request(command.method, _with(path, query, options), _headers(command, options))
    if options.curl:
        url = _address(options.profile) + request.path
        click.echo(as_curl(command.method, url, body, request.headers))
        return
    if body is not None:
        request = replace(
            request,
            headers={**request.headers, "Content-Type": "application/json"},
            body=json.dumps(body).encode(),
        )
    _perform(_Call(command, login_of(options.profile), arguments, request, options))


def _perform(call: _Call) -> None:
    command, given = call.command, call.given
    if command.destructive and not given.yes and not given.dry_run:
        confirm(call.profile, command, call.arguments)
    if command.answer == "file":
        save(_received(call), given.output)
    elif command.answer == "stream":
        follow(call.login, call.request, given.json, "seconds=" not in call.request.path)
    elif given.all:
        _show_list(call, [row for page in _pages(call) for row in rows_of(page)])
    elif command.method == "GET":
        _show(call, send(call.profile, replace(call.request, again=True)).json())
    else:
        _write(call)


def _write(call: _Call) -> None:
    command, given = call.command, call.given
    request, headers = call.request, dict(call.request.headers)
    if command.accepts and given.file:
        kind, content = read_upload(command, Path(given.file))
        headers["Content-Type"] = kind
        request = replace(request, body=content)
    if command.method == "POST" and not given.dry_run:
        headers["Idempotency-Key"] = str(uuid.uuid4())
    request = replace(request, headers=headers, again=command.method in ("POST", "PUT"))
    if given.dry_run:
        _show_price(call, as_record(send(call.profile, request).json()))
        return
    work = Work.before(call.login, command) if given.wait else None
    answer = send(call.profile, request).json()
    record = answer if isinstance(answer, Mapping) else {}
    if command.is_upload and given.file:
        with Path(given.file).open("rb") as file:
            send_file(str(record["upload_to"]), call.profile.ca, file)
    if work is not None:
        work.wait(_about(call, record))
        answer = _afterwards(call, record) or answer
    _show(call, answer)


def _about(call: _Call, record: Row) -> Sequence[str]:
    """The ids of what is written to: its own, and those of what it belongs to."""
    inner = record.get("image")
    of = inner if isinstance(inner, Mapping) and call.command.is_upload else record
    own = [of["id"]] if "id" in of else []
    return [number_of(each) for each in (*own, *call.arguments.values())]


def _afterwards(call: _Call, record: Row) -> Row | None:
    """How the thing is when all is done; None where nothing shows it, or it is gone."""
    command = call.command
    if command.view is None or command.method == "DELETE":
        return None
    names = [part[1:-1] for part in command.view.split("/") if part.startswith("{")]
    values = dict(call.arguments)
    if missing := [name for name in names if name not in values]:
        if len(missing) > 1 or "id" not in record:
            return None
        values[missing[0]] = str(record["id"])
    return view(call.profile, fill(command, command.view, values))


def _pages(call: _Call) -> Iterator[Value]:
    number, last = 1, 1
    while number <= last:
        path, _, query = call.request.path.partition("?")
        page = f"{path}?{query}&page={number}&page_size={_PAGE}".replace("?&", "?")
        request = replace(call.request, path=page, again=True)
        answer = as_record(send(call.profile, request).json())
        pages = answer.get("pages")
        last = pages if isinstance(pages, int) else 1
        yield answer
        number += 1


def _show(call: _Call, value: Value) -> None:
    if call.given.json:
        click.echo(json.dumps(value))
    elif call.command.answer in ("page", "array"):
        _show_list(call, rows_of(value))
        if isinstance(value, Mapping) and isinstance(value.get("pages"), int):
            _tell_of_pages(value)
    else:
        show_record(value)


def _show_list(call: _Call, rows: Sequence[Row]) -> None:
    if call.given.json:
        click.echo(json.dumps(rows))
        return
    columns = call.command.columns
    show_rows(rows, columns, choose_columns(call.given.columns, columns))


def _tell_of_pages(page: Row) -> None:
    if page["pages"] != 1:
        told = f"Page {page['page']} of {page['pages']}, {page['results']} in all: --page, --all."
        click.echo(told, err=True)


def _show_price(call: _Call, price: Row) -> None:
    if call.given.json:
        click.echo(json.dumps(price))
        return
    hourly, monthly = price["hourly"], price["monthly"]
    click.echo(f"It would cost ${hourly} an hour, ${monthly:.2f} a month at most.")


def _received(call: _Call) -> Iterator[bytes]:
    """What breaks where they are written is not the server's."""
    try:
        with opened(call.profile, call.request) as response:
            if response.status >= 300:
                checked(Answer(response.status, headers_of(response), response.read()))
            while piece := response.read(_PIECE):
                yield piece
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
    except (OSError, http.client.HTTPException) as error:
        raise unreachable(call.profile, error) from None


def _with(path: str, query: Mapping[str, object], given: _Given) -> str:
    more = {
        **query,
        **({} if given.page is None or given.all else {"page": given.page}),
        **({"dry_run": "true"} if given.dry_run else {}),
    }
    return f"{path}?{urlencode(more)}" if more else path


def _headers(command: Command, given: _Given) -> dict[str, str]:
    wanted = build_filter(command, given.filter, given.order_by, given.desc)
    return {} if wanted is None else {"X-Filter": wanted}


def _address(profile: str | None) -> str:
    try:
        return profiles.choose(profile).url
    except CommandError:
        return _EXAMPLE
