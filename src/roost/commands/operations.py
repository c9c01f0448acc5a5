"""The commands by their names: a group's and its own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

_FILE = Path(__file__).with_name("commands.json")
"""Where this module is: `importlib.resources` would take a tenth of a start."""

Kind = Literal["string", "integer", "number", "boolean", "json"]
Answer = Literal["nothing", "page", "array", "record", "file", "stream"]


class _Option(TypedDict):
    name: str
    type: Kind
    several: NotRequired[bool]
    words: NotRequired[Sequence[str | int]]
    required: NotRequired[bool]
    null: NotRequired[bool]
    help: NotRequired[str]


class _Command(TypedDict):
    operation: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    help: str
    answer: Answer
    arguments: NotRequired[Sequence[str]]
    slashes: NotRequired[Sequence[str]]
    columns: NotRequired[Sequence[str]]
    body: NotRequired[bool]
    options: NotRequired[Sequence[_Option]]
    query: NotRequired[Mapping[str, str]]
    filters: NotRequired[Sequence[str]]
    typed: NotRequired[Sequence[str]]
    accepts: NotRequired[Sequence[str]]
    events: NotRequired[Sequence[str]]
    dry_run: NotRequired[bool]
    destructive: NotRequired[bool]
    hidden: NotRequired[bool]
    view: NotRequired[str]


class _File(TypedDict):
    revision: str
    commands: Mapping[str, _Command]


@dataclass(frozen=True, slots=True)
class Option:
    """A field of the body; one of a nested record has dots in its name."""

    name: str
    type: Kind
    """Of each value, where it takes several."""
    several: bool = False
    words: Sequence[str | int] = ()
    """All that it takes, where these are few."""
    required: bool = False
    null: bool = False
    help: str = ""

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    operation: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    """With parameters, such as `{computeId}`."""
    help: str
    answer: Answer
    arguments: Sequence[str] = ()
    """The path's parameters."""
    slashes: Sequence[str] = ()
    """Parameters of the path, or of `view`, that hold slashes."""
    columns: Sequence[str] = ()
    """What a table may show, the best first."""
    body: bool = False
    options: Sequence[Option] = ()
    query: Mapping[str, str] = field(default_factory=dict)
    filters: Sequence[str] = ()
    typed: Sequence[str] = ()
    """Those of `filters` that are compared with numbers, true or false; all others with texts."""
    accepts: Sequence[str] = ()
    """Media types of a body that is a file."""
    events: Sequence[str] = ()
    dry_run: bool = False
    destructive: bool = False
    hidden: bool = False
    view: str | None = None
    """The path of what shows the thing that is changed or made."""

    @property
    def is_upload(self) -> bool:
        """Whether the answer says where a file is to be sent."""
        return "upload_to" in self.columns


def revision() -> str:
    """The one of the API that the commands are of."""
    return _file()["revision"]


def names() -> Mapping[str, Sequence[str]]:
    """The names of the commands that are not hidden, by their groups."""
    found: dict[str, list[str]] = {}
    for name, each in _read().items():
        group, _, own = name.partition(" ")
        found.setdefault(group, [])
        if not each.get("hidden"):
            found[group].append(own)
    return found


def find_command(name: str) -> Command | None:
    """By its group and its own name, with a space between them."""
    found = _read().get(name)
    return None if found is None else _made(name, found)


def command_of(operation: str) -> Command:
    """That of an operation of the API; KeyError."""
    name = _by_operation()[operation]
    return _made(name, _read()[name])


def _made(name: str, read: _Command) -> Command:
    options = [Option(**each) for each in read.get("options", ())]
    return Command(name=name, **{**read, "options": options})  # type: ignore[arg-type]


def _read() -> Mapping[str, _Command]:
    return _file()["commands"]


@cache
def _file() -> _File:
    found: _File = json.loads(_FILE.read_bytes())
    return found


@cache
def _by_operation() -> Mapping[str, str]:
    return {each["operation"]: name for name, each in _read().items()}
