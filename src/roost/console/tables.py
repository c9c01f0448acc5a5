"""Tables of lists: columns from the records that a list has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from roost.console.api import Json
from roost.console.schemas import Schemas, properties, text_of, type_of
from roost.console.words import words
from roost.web.registry import Endpoint

MOST = 7
_FIRST = ("label", "id", "status")
_LAST = ("created", "updated", "expiry")
_UNIT = re.compile(r"([GM]i?B|Mbit/s|bytes)\b")
_SCALARS = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    text: str
    """What the API's document says of it."""

    @property
    def title(self) -> str:
        """With its unit, where that is what is said of it first."""
        unit = _UNIT.match(self.text)
        return words(self.name) if unit is None else f"{words(self.name)} ({unit[0]})"


def columns_of(schemas: Schemas, endpoint: Endpoint, chosen: Sequence[str] = ()) -> list[Column]:
    """Those that were chosen, or the few that say most: names and states first, times last."""
    found = dict(properties(schemas.row(endpoint)))
    known = {name: schemas.resolved(each) for name, each in found.items()}
    plain = [n for n, each in known.items() if _fits(n, each)]
    first = [name for name in _FIRST if name in plain]
    last = [name for name in _LAST if name in plain][:1]
    middle = [name for name in plain if name not in (*_FIRST, *_LAST)]
    chosen = chosen or [*first, *middle[: MOST - len(first) - len(last)], *last]
    return [Column(name, text_of(known[name].get("description"))) for name in chosen]


def _fits(name: str, schema: Json) -> bool:
    if schema.get("deprecated"):
        return False
    items = schema.get("items")
    is_list = isinstance(items, dict) and type_of(items) == "string"
    return is_list or type_of(schema) in _SCALARS
