"""What is answered, for people: tables as wide as the terminal, records as lines."""

import shutil
from collections.abc import Mapping, Sequence

import click

from roost.app.table import format_table
from roost.app.terminal import cell, to_lines
from roost.commands.written import Value
from roost.ctl.errors import CommandError

WIDTH = 120
"""Where there is no terminal."""
_GAP = 2

Row = Mapping[str, Value]


def rows_of(value: Value) -> list[Row]:
    """The rows of an array, or of a page's `data`."""
    found = value.get("data") if isinstance(value, Mapping) else value
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [each for each in found if isinstance(each, Mapping)]


def choose_columns(text: str | None, known: Sequence[str]) -> Sequence[str] | None:
    """Those of `--columns`; None for as many as there is room for."""
    if text is None:
        return None
    wanted = [each.strip() for each in text.split(",")]
    unknown = [each for each in wanted if each not in known]
    if unknown:
        raise click.UsageError(
            f"--columns: there is no {', '.join(unknown)}, but {', '.join(known)}."
        )
    return wanted


def show_rows(rows: Sequence[Row], known: Sequence[str], wanted: Sequence[str] | None) -> None:
    """A table, without columns that have nothing in them unless they are wanted."""
    if not rows:
        click.echo("There are none.", err=True)
        return
    columns = wanted or _fitting(rows, known)
    head = [column.replace("_", " ").upper() for column in columns]
    click.echo(format_table(head, [[cell(row.get(each)) for each in columns] for row in rows]))


def show_record(record: Value) -> None:
    if isinstance(record, Mapping) and record:
        click.echo(to_lines(_flat(record)))


def _flat(record: Row, before: str = "") -> dict[str, Value]:
    """Fields of nested records with dots in their names, as the options have them."""
    found: dict[str, Value] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            found[before + name] = [_flat(x) if isinstance(x, Mapping) else x for x in value]
        else:
            found[before + name] = value
    return found


def _fitting(rows: Sequence[Row], known: Sequence[str]) -> Sequence[str]:
    left = shutil.get_terminal_size((WIDTH, 24)).columns + _GAP
    columns: list[str] = []
    for name in known:
        texts = [cell(row.get(name)) for row in rows]
        if all(text == "-" for text in texts):
            continue
        width = max(len(name), *map(len, texts)) + _GAP
        if width <= left or not columns:
            columns.append(name)
            left -= width
    return columns or known[:1]


def as_record(value: Value) -> Row:
    """CommandError when a server answers something else."""
    if not isinstance(value, Mapping):
        raise CommandError("the server answers no record: is it Roost?")
    return value
