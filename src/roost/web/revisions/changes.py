"""What one revision changed of a record, declared from the former one to the next.

Each kind says everything that follows from it: what becomes of requests, answers, names in errors
and filters, and the document. All work on a record in place, and leave alone what is not as
declared: that is the API's to refuse. A field that only the later revision has means nothing in a
request of the former one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from roost.web.revisions.fields import (
    MISSING,
    Record,
    Schemas,
    get,
    put,
    put_schema,
    take,
    take_schema,
)
from roost.web.translation import Json


class Change(ABC):
    """One change of a record."""

    @abstractmethod
    def up(self, record: Record) -> None:
        """A record of the former revision becomes one of the next."""

    @abstractmethod
    def down(self, record: Record) -> None:
        """The other way."""

    @abstractmethod
    def describe(self, schema: Record, schemas: Schemas) -> None:
        """The schema of the next revision becomes that of the former one."""

    def name_up(self, path: str) -> str | None:
        """What a field of the former revision is called; None where that had none of the name, or
        nothing stands for it alone."""
        return path

    def name_down(self, path: str) -> str:
        """What a field was called, in errors."""
        return path


def _is_within(path: str, field: str) -> bool:
    return path == field or path.startswith((f"{field}.", f"{field}["))


@dataclass(frozen=True, slots=True)
class Moved(Change):
    """A field has another name, or another place in the record: dotted paths."""

    older: str
    newer: str

    def up(self, record: Record) -> None:
        take(record, self.newer)
        _move(record, self.older, self.newer)

    def down(self, record: Record) -> None:
        _move(record, self.newer, self.older)

    def describe(self, schema: Record, schemas: Schemas) -> None:
        found, required = take_schema(schema, self.newer, schemas)
        put_schema(schema, self.older, found, schemas, required=required)

    def name_up(self, path: str) -> str | None:
        if _is_within(path, self.older):
            return self.newer + path[len(self.older) :]
        return None if _is_within(path, self.newer) else path

    def name_down(self, path: str) -> str:
        is_it = _is_within(path, self.newer)
        return self.older + path[len(self.newer) :] if is_it else path


def _move(record: Record, old: str, new: str) -> None:
    value = take(record, old)
    if value is not MISSING:
        put(record, new, value)


@dataclass(frozen=True, slots=True)
class Split(Change):
    """A field has become several."""

    older: str
    newer: tuple[str, ...]
    apart: Callable[[Json], tuple[Json, ...] | None]
    """The values of the new fields; None for a value that the field could not have."""
    together: Callable[[tuple[Json, ...]], Json]
    schema: Mapping[str, Json]
    """What the field was."""

    def up(self, record: Record) -> None:
        for name in self.newer:
            take(record, name)
        value = take(record, self.older)
        if value is MISSING:
            return
        # What it could not be is refused in the name of the first of them.
        parts = (value,) if (found := self.apart(value)) is None else found
        for name, part in zip(self.newer, parts, strict=False):
            put(record, name, part)

    def down(self, record: Record) -> None:
        found = [take(record, name) for name in self.newer]
        values = tuple(each for each in found if each is not MISSING)
        if len(values) == len(self.newer):
            put(record, self.older, self.together(values))

    def describe(self, schema: Record, schemas: Schemas) -> None:
        were = [take_schema(schema, name, schemas)[1] for name in self.newer]
        put_schema(schema, self.older, dict(self.schema), schemas, required=all(were))

    def name_up(self, path: str) -> str | None:
        mine = (self.older, *self.newer)
        return None if any(_is_within(path, each) for each in mine) else path

    def name_down(self, path: str) -> str:
        return self.older if any(_is_within(path, each) for each in self.newer) else path


@dataclass(frozen=True, slots=True)
class Added(Change):
    """A field that the former revision did not have."""

    newer: str

    def up(self, record: Record) -> None:
        take(record, self.newer)

    def down(self, record: Record) -> None:
        take(record, self.newer)

    def describe(self, schema: Record, schemas: Schemas) -> None:
        take_schema(schema, self.newer, schemas)

    def name_up(self, path: str) -> str | None:
        return None if _is_within(path, self.newer) else path


@dataclass(frozen=True, slots=True)
class Removed(Change):
    """A field that there is no more; what answers say there follows from the rest of the record.
    In requests it means nothing."""

    older: str
    value: Callable[[Record], Json]
    schema: Mapping[str, Json]
    """What the field was."""

    def up(self, record: Record) -> None:
        take(record, self.older)

    def down(self, record: Record) -> None:
        put(record, self.older, self.value(record))

    def describe(self, schema: Record, schemas: Schemas) -> None:
        put_schema(schema, self.older, dict(self.schema), schemas, required=False)

    def name_up(self, path: str) -> str | None:
        return None if _is_within(path, self.older) else path


@dataclass(frozen=True, slots=True)
class Reworded(Change):
    """The words of an enumeration, or of a list of such words, are others."""

    field: str
    words: Mapping[str, str]
    """By the former ones."""
    new: Mapping[str, str]
    """What stood, or would have stood, for words that the former revision did not have."""

    def up(self, record: Record) -> None:
        # A word of the next revision is exchanged, too: it meant nothing, and is refused.
        unknown = {word: f"{word}?" for word in (*self.words.values(), *self.new)}
        self._replace(record, {**unknown, **self.words})

    def down(self, record: Record) -> None:
        self._replace(record, self._former())

    def describe(self, schema: Record, schemas: Schemas) -> None:
        found, required = take_schema(schema, self.field, schemas)
        put_schema(schema, self.field, _reworded(found, self._former()), schemas, required=required)

    def _former(self) -> Mapping[str, str]:
        return {**self.new, **{newer: older for older, newer in self.words.items()}}

    def _replace(self, record: Record, words: Mapping[str, str]) -> None:
        value = get(record, self.field)
        if isinstance(value, str):
            put(record, self.field, words.get(value, value))
        elif isinstance(value, list):
            said = [words.get(each, each) if isinstance(each, str) else each for each in value]
            put(record, self.field, said)


def _reworded(schema: Json, words: Mapping[str, str]) -> Json:
    """With other words in all enumerations, none of them twice."""
    if isinstance(schema, list):
        return [_reworded(each, words) for each in schema]
    if not isinstance(schema, dict):
        return schema
    said = {key: _reworded(each, words) for key, each in schema.items()}
    if isinstance(enum := schema.get("enum"), list):
        known = [words.get(each, each) if isinstance(each, str) else each for each in enum]
        said["enum"] = [each for at, each in enumerate(known) if each not in known[:at]]
    for key in ("const", "default"):
        if isinstance(word := schema.get(key), str):
            said[key] = words.get(word, word)
    return said
