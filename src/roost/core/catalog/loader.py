"""Reads a catalogue file."""

import tomllib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from roost.core.catalog.catalog import Catalog
from roost.core.catalog.checks import faults
from roost.core.catalog.entries import Entries
from roost.errors import OperatorError

_DEFAULT = resources.files(__package__) / "default.toml"


class CatalogError(OperatorError):
    """A file that is not a catalogue; the text names every fault on a line of its own."""

    def __init__(self, name: str, problems: Iterable[str]) -> None:
        super().__init__("\n".join(f"{name}: {problem}" for problem in problems))


def load(path: Path | None) -> Catalog:
    """The catalogue in a TOML file, or Roost's own; raises CatalogError."""
    name = "default catalogue" if path is None else str(path)
    try:
        text = (_DEFAULT if path is None else path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(name, [str(error)]) from None
    return parse(text, name)


def parse(text: str, name: str) -> Catalog:
    """The catalogue in a text; `name` says in errors where it is from."""
    try:
        entries = Entries.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(name, [str(error)]) from None
    except ValidationError as error:
        raise CatalogError(name, [_describe(detail) for detail in error.errors()]) from None
    problems = list(faults(entries))
    if problems:
        raise CatalogError(name, problems)
    return Catalog(entries)


def _describe(detail: ErrorDetails) -> str:
    path = ""
    for part in detail["loc"]:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return f"{path}: {detail['msg']}"
