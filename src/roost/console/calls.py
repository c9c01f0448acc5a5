"""The same call as a form makes, for people who write programs."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from roost.console.api import path_of
from roost.web.registry import Endpoint
from roost.web.routing import Params

_HIDDEN = re.compile("pass|secret|cvv|card_number|tfa_code|private_key|ssl_key")


@dataclass(frozen=True, slots=True)
class Calls:
    """As texts to copy, in which the token is `$TOKEN`."""

    curl: str
    python: str


def calls_of(endpoint: Endpoint, params: Params, body: Mapping[str, JsonValue], base: str) -> Calls:
    """With secrets left out: what is copied is kept in histories."""
    url = f"{base}/v4{path_of(endpoint, params)}"
    shown = {name: _shown(name, value) for name, value in body.items()}
    return Calls(_curl(endpoint.method, url, shown), _python(endpoint.method, url, shown))


def _shown(name: str, value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _shown(key, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shown(name, inner) for inner in value]
    return "…" if _HIDDEN.search(name) and isinstance(value, str) else value


def _curl(method: str, url: str, body: Mapping[str, JsonValue]) -> str:
    words = ["curl", "-H", '"Authorization: Bearer $TOKEN"']
    if method != "POST" or not body:
        words += ["-X", method]
    lines = [" ".join(words)]
    if body:
        text = json.dumps(body, indent=2, ensure_ascii=False)
        lines += ["  -H 'Content-Type: application/json'", f"  -d {shlex.quote(text)}"]
    return " \\\n".join([*lines, f"  {shlex.quote(url)}"])


def _python(method: str, url: str, body: Mapping[str, JsonValue]) -> str:
    given = f",\n    json={dict(body)!r}" if body else ""
    return (
        "import os, requests\n\n"
        f"answer = requests.request(\n    {method!r}, {url!r},\n"
        '    headers={"Authorization": f"Bearer {os.environ[\'TOKEN\']}"}'
        f"{given},\n)\nprint(answer.json())"
    )
