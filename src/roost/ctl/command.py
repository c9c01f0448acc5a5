"""A command of click for each operation: its path's parameters, its fields, and what all share."""

import re
from collections.abc import Callable, Iterator, Sequence

import click

from roost.commands.operations import Command, Option

GENERAL = frozenset(
    {
        "all",
        "body",
        "columns",
        "curl",
        "desc",
        "dry_run",
        "file",
        "filter",
        "help",
        "json",
        "order_by",
        "output",
        "page",
        "profile",
        "wait",
        "yes",
    }
)
"""What options are called that are no fields: no field may have such a name."""
_KINDS = {
    "string": "TEXT",
    "integer": "NUMBER",
    "number": "NUMBER",
    "boolean": "true|false",
    "json": "JSON",
}


def make(command: Command, perform: Callable[[Command, dict[str, object]], None]) -> click.Command:
    """`perform` is given the values by the names of the parameters."""

    def run(**given: object) -> None:
        perform(command, given)

    return click.Command(
        command.name.partition(" ")[2],
        callback=run,
        params=list(_params(command)),
        help=command.help,
        hidden=command.hidden,
        context_settings={"token_normalize_func": _normal},
        no_args_is_help=bool(command.arguments),
    )


def parameter(name: str) -> str:
    """The name that Python has for what the API names."""
    return "field_" + re.sub(r"\W", "_", name)


def _normal(token: str) -> str:
    """Fields may be written as the API writes them."""
    return token.replace("_", "-")


def _params(command: Command) -> Iterator[click.Parameter]:
    for name in command.arguments:
        yield click.Argument([f"path_{name.lower()}"], metavar=_metavar(name))
    for option in command.options:
        yield _option(option)
    for name, text in command.query.items():
        yield _text(f"query_{name}", f"--{name.replace('_', '-')}", f"{text.rstrip('.')}.")
    yield from _general(command)


def _option(option: Option) -> click.Option:
    kind: click.ParamType[str] | None = None
    if option.words and option.type == "string" and not option.null and not option.several:
        kind = click.Choice([str(word) for word in option.words])
    told = [option.help]
    if option.words and kind is None:
        told.append(f"One of {', '.join(map(str, option.words))}.")
    if option.several:
        told.append("May be repeated.")
    return click.Option(
        [parameter(option.name), option.flag],
        type=kind or str,
        metavar=None if kind else _KINDS[option.type],
        multiple=option.several,
        help=" ".join(["(required)", *told] if option.required else told),
    )


def _general(command: Command) -> Iterator[click.Parameter]:
    if command.body:
        yield _text("body", "--body", "All fields at once, as JSON or @FILE.", "JSON")
    if command.answer == "page":
        yield _flag("all", "All pages instead of the first.")
        yield click.Option(
            ["page", "--page"], type=click.IntRange(1), help="The number of the page."
        )
    if command.filters:
        text = "Only rows such as label=web, label~web, size>20, or JSON. May be repeated."
        yield click.Option(["filter", "--filter"], multiple=True, help=text, metavar="TERM")
        yield _text("order_by", "--order-by", f"One of {', '.join(command.filters)}.", "FIELD")
        yield _flag("desc", "With --order-by: the last one first.")
    if command.columns and command.answer in ("page", "array"):
        yield _text("columns", "--columns", f"Of {', '.join(command.columns)}.", "A,B,…")
    if command.dry_run:
        yield _flag("dry_run", "Do nothing, and say what it would cost.")
    if command.events:
        yield _flag("wait", "Wait until it is done.")
    if command.destructive:
        yield _flag("yes", "Do not ask.")
    if command.accepts or command.is_upload:
        path = click.Path(exists=True, dir_okay=False)
        yield click.Option(
            ["file", "--file"], type=path, required=bool(command.accepts), help="What is sent."
        )
    if command.answer == "file":
        path = click.Path(dir_okay=False, writable=True)
        yield click.Option(["output", "--output"], type=path, help="Where it is written.")
    yield _flag("json", "For scripts: what the API answers.")
    yield _flag("curl", "Do nothing, and show the call.")
    yield _text("profile", "--profile", "Where it goes, and as whom.", "NAME")


def _flag(name: str, text: str) -> click.Option:
    return click.Option([name, f"--{name.replace('_', '-')}"], is_flag=True, help=text)


def _text(name: str, flag: str, text: str, metavar: str = "TEXT") -> click.Option:
    return click.Option([name, flag], help=text, metavar=metavar)


def _metavar(name: str) -> str:
    """`COMPUTE_ID` for `computeId`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def arguments_of(command: Command, given: dict[str, object]) -> Sequence[str]:
    """The path's parameters, in order."""
    return [str(given[f"path_{name.lower()}"]) for name in command.arguments]
