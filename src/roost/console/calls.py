"""The same call as a form makes, for people who write programs."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from roost.commands import command_of
from roost.commands.written import as_command, as_curl, hidden
from roost.console.api import path_of
from roost.web.registry import Endpoint
from roost.web.routing import Params


@dataclass(frozen=True, slots=True)
class Calls:
    """As texts to copy, in which the token is of the environment, as `ROOST_TOKEN`."""

    curl: str
    python: str
    cli: str


def calls_of(endpoint: Endpoint, params: Params, body: Mapping[str, JsonValue], base: str) -> Calls:
    """With secrets left out: what is copied is kept in histories."""
    url = f"{base}/v4{path_of(endpoint, params)}"
    command = command_of(endpoint.name)
    arguments = [str(params[name]) for name in command.arguments]
    return Calls(
        as_curl(endpoint.method, url, body, {}),
        _python(endpoint.method, url, body),
        as_command(command, arguments, body),
    )


def _python(method: str, url: str, body: Mapping[str, JsonValue]) -> str:
    given = f",\n    json={hidden('', body)!r}" if body else ""
    return (
        "import os, requests\n\n"
        f"answer = requests.request(\n    {method!r}, {url!r},\n"
        '    headers={"Authorization": f"Bearer {os.environ[\'ROOST_TOKEN\']}"}'
        f"{given},\n)\nprint(answer.json())"
    )
