"""Texts of a command line as values of JSON."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from roost.commands.operations import Option
from roost.commands.written import ASK, Value, is_secret

MAX_BYTES = 1 << 20
"""Of a file that is a value: the API takes no larger bodies."""
_WORDS = {"true": True, "yes": True, "false": False, "no": False}


def read_body(
    options: Sequence[Option], given: Mapping[str, object], whole: str | None
) -> dict[str, Value]:
    """The body: `--body` first, and over it each option that is given."""
    body = _object(whole) if whole is not None else {}
    for option in options:
        texts = given.get(option.name)
        if texts is None or texts == ():
            continue
        value = _of_several(option, texts) if isinstance(texts, tuple) else _one(option, str(texts))
        _put(body, option.name.split("."), value)
    missing = [o.flag for o in options if o.required and o.name not in body]
    if missing:
        raise click.UsageError(f"Missing option {', '.join(missing)}.")
    return body


def read_text(text: str, flag: str) -> str:
    """What is written, or what the file has that is named after @."""
    if text.startswith("@@") or not text.startswith("@"):
        return text.removeprefix("@")
    path = Path(text[1:]).expanduser()
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise click.UsageError(f"{flag}: {path} has more than {MAX_BYTES} bytes.")
        return content.decode().rstrip("\r\n")
    except OSError as error:
        raise click.UsageError(f"{flag}: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{flag}: {path} is no text.") from None


def ask_secret(flag: str) -> str:
    """From the terminal, or a line of what is piped in."""
    if sys.stdin.isatty():
        return str(click.prompt(flag.lstrip("-"), hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def _one(option: Option, text: str) -> Value:
    if is_secret(option.name.rpartition(".")[2]) and option.type == "string":
        return _secret(option, text)
    return _value(option, read_text(text, option.flag))


def _secret(option: Option, text: str) -> str:
    if text == ASK:
        return ask_secret(option.flag)
    if not text.startswith("@") or text.startswith("@@"):
        raise click.UsageError(
            f"{option.flag}: others on this machine see what is on a command line: "
            f"say {ASK} to be asked for it, or @FILE."
        )
    return read_text(text, option.flag)


def _of_several(option: Option, texts: Sequence[str]) -> Value:
    """Each use of the option is one; a JSON array is all of them."""
    found = [read_text(text, option.flag) for text in texts]
    if len(found) == 1:
        if found[0] == "null" and option.null:
            return None
        if (array := _array(found[0])) is not None:
            return array
    return [_value(option, text) for text in found]


def _array(text: str) -> Sequence[Value] | None:
    if not text.startswith("["):
        return None
    try:
        found: Sequence[Value] = json.loads(text)
    except ValueError:
        return None
    return found


def _value(option: Option, text: str) -> Value:
    if text == "null" and option.null:
        return None
    try:
        match option.type:
            case "string":
                return text
            case "boolean":
                return _WORDS[text.lower()]
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "json":
                found: Value = json.loads(text)
                return found
    except (ValueError, KeyError, RecursionError):
        kinds = {"boolean": "true or false", "json": "JSON", "integer": "a whole number"}
        raise click.UsageError(
            f"{option.flag} must be {kinds.get(option.type, 'a number')}."
        ) from None


def _object(text: str) -> dict[str, Value]:
    try:
        found = json.loads(read_text(text, "--body"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise click.UsageError("--body must be a JSON object, or @FILE with one.")
    return found


def _put(body: dict[str, Value], path: Sequence[str], value: Value) -> None:
    *parents, last = path
    for part in parents:
        inner = body.get(part)
        body[part] = dict(inner) if isinstance(inner, Mapping) else {}
        body = body[part]  # type: ignore[assignment]
    body[last] = value
