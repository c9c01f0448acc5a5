"""`--filter`, `--order-by` and `--desc` as the API's `X-Filter`."""

import json
import re
from collections.abc import Sequence

import click

from roost.commands.operations import Command
from roost.commands.written import Value

_TERM = re.compile(r"([\w.]+)(!=|>=|<=|=|~|>|<)(.*)", re.DOTALL)
_OPERATORS = {"!=": "+neq", ">=": "+gte", "<=": "+lte", "~": "+contains", ">": "+gt", "<": "+lt"}


def build_filter(
    command: Command, terms: Sequence[str], order_by: str | None, descending: bool
) -> str | None:
    """JSON; None where nothing is wanted. All terms must hold."""
    parts = [_part(command, term) for term in terms]
    wanted: dict[str, Value] = {"+and": parts} if len(parts) > 1 else dict(*parts)
    if order_by is not None:
        _check(command, order_by)
        wanted["+order_by"] = order_by
        wanted["+order"] = "desc" if descending else "asc"
    elif descending:
        raise click.UsageError("--desc goes with --order-by.")
    return json.dumps(wanted) if wanted else None


def _part(command: Command, term: str) -> dict[str, Value]:
    if term.startswith("{"):
        try:
            found = json.loads(term)
        except ValueError:
            raise click.UsageError("--filter: this is no JSON.") from None
        return dict(found)
    read = _TERM.fullmatch(term)
    if read is None:
        raise click.UsageError("--filter must be like label=web, label~web, size>20 or JSON.")
    name, operator, text = read.groups()
    _check(command, name)
    value = _plain(text) if name in command.typed or text == "null" else text
    return {name: value if operator == "=" else {_OPERATORS[operator]: value}}


def _check(command: Command, name: str) -> None:
    if name not in command.filters:
        raise click.UsageError(
            f"{command.name} is not filtered by {name}: there are {', '.join(command.filters)}."
        )


def _plain(text: str) -> Value:
    """Numbers, true and false as such; all else is text."""
    if re.fullmatch(r"true|false|null|-?[0-9]{1,15}", text):
        found: Value = json.loads(text)
        return found
    return text
