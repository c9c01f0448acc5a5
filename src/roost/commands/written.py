"""Calls as texts to copy. Secrets are left out of them: what is copied is kept in histories."""

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import quote

from roost.commands.operations import Command, Option

Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None"
Body: TypeAlias = Mapping[str, Value]

TOKEN = "$ROOST_TOKEN"  # noqa: S105
PROGRAM = "roostctl"
ASK = "-"
"""In place of a secret: it is asked for."""
_HIDDEN = re.compile("pass|secret|cvv|card_number|tfa_code|private_key|ssl_key")


def is_secret(name: str) -> bool:
    """Whether a text of this name is nobody else's business."""
    return _HIDDEN.search(name) is not None


def hidden(name: str, value: Value) -> Value:
    """With `…` for each secret in it."""
    if isinstance(value, Mapping):
        return {key: hidden(key, inner) for key, inner in value.items()}
    if isinstance(value, str):
        return "…" if is_secret(name) else value
    if isinstance(value, Sequence):
        return [hidden(name, inner) for inner in value]
    return value


def fill(command: Command, path: str, values: Mapping[str, str]) -> str:
    """A path with its parameters; a slash is only left in those that hold some."""

    def filled(found: re.Match[str]) -> str:
        name = found[1]
        return quote(values[name], safe="/" if name in command.slashes else "")

    return re.sub(r"\{(\w+)\}", filled, path)


def as_curl(
    method: str, url: str, body: Body | None, headers: Mapping[str, str], token: bool = True
) -> str:
    """In which the token is a variable of the shell."""
    words = ["curl"]
    if token:
        words += ["-H", f'"Authorization: Bearer {TOKEN}"']
    if method != ("POST" if body else "GET"):
        words += ["-X", method]
    lines = [" ".join(words)]
    lines += [f"  -H {shlex.quote(f'{name}: {text}')}" for name, text in headers.items()]
    if body:
        text = json.dumps(hidden("", body), indent=2, ensure_ascii=False)
        lines += ["  -H 'Content-Type: application/json'", f"  -d {shlex.quote(text)}"]
    return " \\\n".join([*lines, f"  {shlex.quote(url)}"])


def as_command(command: Command, arguments: Sequence[str], body: Body) -> str:
    """The call as a command of `roostctl`."""
    words = [PROGRAM, *command.name.split(), *map(shlex.quote, arguments)]
    lines = [" ".join(words)]
    known = [_given(option, body) for option in command.options]
    lines += [f"  {each}" for found in known for each in found]
    if command.accepts:
        lines.append("  --file FILE")
    names = {option.name for option in command.options}
    if rest := {name: value for name, value in body.items() if not _is_said(name, value, names)}:
        lines.append(f"  --body {shlex.quote(_json(hidden('', rest)))}")
    return " \\\n".join(lines)


def _is_said(name: str, value: Value, options: Collection[str]) -> bool:
    """Whether there are options for all of it; there is none for an empty record."""
    if name in options:
        return True
    inner = value.items() if isinstance(value, Mapping) else ()
    return bool(inner) and all(_is_said(f"{name}.{k}", v, options) for k, v in inner)


def _given(option: Option, body: Body) -> Iterator[str]:
    value: Value = body
    for part in option.name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return
        value = value[part]
    last = option.name.rpartition(".")[2]
    if is_secret(last) and isinstance(value, str):
        yield f"{option.flag} {ASK}"
        return
    for text in _texts(option, hidden(last, value)):
        yield f"{option.flag} {shlex.quote(text)}"


def _texts(option: Option, value: Value) -> Iterator[str]:
    if option.type == "json" or value is None:
        yield _json(value)
    elif option.several and isinstance(value, Sequence) and not isinstance(value, str):
        if not value or any(isinstance(each, str) and each.startswith("[") for each in value):
            yield _json(value)
        else:
            for each in value:
                yield _text(each)
    else:
        yield _text(value)


def _text(value: Value) -> str:
    """What begins with @ would be the name of a file."""
    if not isinstance(value, str):
        return _json(value)
    return f"@{value}" if value.startswith("@") else value


def _json(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)
