"""`roost ticket`: answering customers."""

import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TypeVar

import click
from pydantic import TypeAdapter, ValidationError

from roost.app.all_groups import all_groups
from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.app.support import attachments
from roost.app.terminal import fields
from roost.cli import ticket_view
from roost.cli.options import json_option, read_served_settings, run, show_all, state_option
from roost.core.events.log import EventListener
from roost.ids import MAX_ID
from roost.jobs.queue import JobQueue
from roost.resources.support import queries, service
from roost.resources.support.bodies import Description, Reply, Summary
from roost.resources.support.engine import AttachmentStoreError
from roost.resources.support.records import TicketKind
from roost.resources.support.service import TicketError
from roost.store import Connection, Store

T = TypeVar("T")
_REPLY: TypeAdapter[str] = TypeAdapter(Reply)
_DESCRIPTION: TypeAdapter[str] = TypeAdapter(Description)
_SUMMARY: TypeAdapter[str] = TypeAdapter(Summary)
_NAME = click.option("--as", "name", default="support", show_default=True, help="Who you are.")
_TEXT = click.option("--text", help="Default: standard input.")
_NUMBER = click.IntRange(1, MAX_ID)
_ID = click.argument("ticket_id", type=_NUMBER, metavar="ID")

_COLUMNS = ("id", "account_id", "status", "kind", "updated", "assignee", "summary")


@click.group()
def ticket() -> None:
    """Support tickets of all accounts, also while the server runs."""


@ticket.command("list")
@state_option
@json_option
@click.option("--closed", is_flag=True, help="The closed ones too.")
def list_(state: Path | None, closed: bool, as_json: bool) -> None:
    """List tickets, open ones first."""
    found = _read(state, lambda store: queries.list_all(store, closed))
    show_all([fields(row) for row in found], _COLUMNS, as_json)


@ticket.command()
@state_option
@_ID
def show(state: Path | None, ticket_id: int) -> None:
    """Show a ticket with all replies and attachments."""
    click.echo(_read(state, lambda store: ticket_view.describe(store, ticket_id)))


@ticket.command("open")
@state_option
@click.argument("account_id", type=_NUMBER)
@click.option("--summary", required=True)
@_TEXT
@click.option("--kind", type=click.Choice(["support", "important", "abuse"]), default="support")
@click.option("--closable", is_flag=True, help="Its users may close it.")
@_NAME
def open_(
    state: Path | None,
    account_id: int,
    summary: str,
    text: str | None,
    kind: TicketKind,
    closable: bool,
    name: str,
) -> None:
    """Open a ticket for an account, which is told by mail; prints an ID."""
    summary, name = _checked(_SUMMARY, summary), _checked(_SUMMARY, name)
    said = _said(_DESCRIPTION, text)

    async def act(db: Connection, queue: JobQueue) -> int:
        return await service.open_for(db, queue, account_id, kind, summary, said, name, closable)

    click.echo(_write(state, act))


@ticket.command()
@state_option
@_ID
@_TEXT
@_NAME
def reply(state: Path | None, ticket_id: int, text: str | None, name: str) -> None:
    """Reply to a ticket; who opened it is told by mail."""
    said, name = _said(_REPLY, text), _checked(_SUMMARY, name)
    _write(state, lambda db, queue: service.reply_as_staff(db, queue, ticket_id, said, name))


@ticket.command()
@state_option
@_ID
@_NAME
def close(state: Path | None, ticket_id: int, name: str) -> None:
    """Close a ticket."""
    name = _checked(_SUMMARY, name)
    _write(state, lambda db, queue: service.close_as_staff(db, queue, ticket_id, name))


@ticket.command()
@state_option
@_ID
@click.argument("assignee", required=False)
def assign(state: Path | None, ticket_id: int, assignee: str | None) -> None:
    """Say who looks after a ticket; without ASSIGNEE, nobody."""
    name = None if assignee is None else _checked(_SUMMARY, assignee)
    _write(state, lambda db, _queue: service.assign(db, ticket_id, name))


@ticket.command()
@state_option
@click.argument("attachment_id", type=_NUMBER)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def fetch(state: Path | None, attachment_id: int, file: Path) -> None:
    """Write an attachment of a ticket to a new FILE."""
    store = attachments(read_served_settings(state=state))[0]
    key = _read(state, lambda db: queries.find_key(db, attachment_id))
    if key is None:
        raise click.ClickException(f"there is no attachment {attachment_id}")
    try:
        content = run(store.get(key))
        with file.open("xb") as opened:
            opened.write(content)
    except (AttachmentStoreError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _read(state: Path | None, look: Callable[[Store], Coroutine[None, None, T]]) -> T:
    async def work() -> T:
        async with open_store(read_served_settings(state=state)) as store:
            return await look(store)

    return _run(work())


def _write(
    state: Path | None, act: Callable[[Connection, JobQueue], Coroutine[None, None, T]]
) -> T:
    async def work() -> T:
        settings = read_served_settings(state=state)
        async with open_store(settings) as store, store.transaction() as db:
            clock = await clock_beside(settings, db)
            return await act(db, JobQueue(all_groups().jobs, clock, EventListener(clock)))

    return _run(work())


def _run(work: Coroutine[None, None, T]) -> T:
    try:
        return run(work)
    except TicketError as error:
        raise click.ClickException(str(error)) from error


def _said(kind: TypeAdapter[str], text: str | None) -> str:
    if text is None:
        try:
            text = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError:
            raise click.ClickException("the text is not UTF-8") from None
    return _checked(kind, text)


def _checked(kind: TypeAdapter[str], text: str) -> str:
    try:
        text.encode()
        checked = kind.validate_python(text)
    except UnicodeEncodeError:
        raise click.ClickException("the text is not UTF-8") from None
    except ValidationError as error:
        raise click.ClickException(error.errors()[0]["msg"]) from None
    if "\0" in checked:
        raise click.ClickException("the text holds a NUL character")
    return checked
