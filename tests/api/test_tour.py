"""The transcript of docs/tour.md is what its commands say, and its program accepts a message."""

import json
import re
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web

from roost.app.roost import Roost
from roost.engines.webhook.receivers import HttpReceivers
from roost.resources.webhooks.engine import Outside
from tests.api.conftest import Account
from tests.api.test_cli_docs import plain, typed
from tests.support.client import Client
from tests.support.receivers import receiver
from tests.support.server import RunningRoost

DOCUMENT = (Path(__file__).parents[2] / "docs" / "tour.md").read_text()
TRANSCRIPT = "".join(re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL))
(PROGRAM,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
HOOK = "https://hooks.example.com/roost"


def checking(
    folder: Path, verdicts: list[bool]
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A receiver that looks at a message, and at one that was changed on its way."""
    names: dict[str, Callable[..., bool]] = {}
    exec(PROGRAM, names)

    async def take(request: web.Request) -> web.StreamResponse:
        secret = json.loads((folder / "hook.json").read_text())["secret"]
        body = await request.read()
        verdicts.extend(
            names["is_verified"](secret, request.headers, each) for each in (body, body + b" ")
        )
        return web.Response()

    return take


async def test_the_transcript(
    tmp_path: Path,
    running: RunningRoost,
    client: Client,
    account: Account,
    roost: Roost,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receivers = roost.services.get(Outside).receivers
    assert isinstance(receivers, HttpReceivers)
    monkeypatch.setattr(receivers, "_allowed", [ip_network("127.0.0.1/32")])
    verdicts: list[bool] = []
    async with receiver() as hook:
        hook.answers.append(checking(tmp_path, verdicts))
        script = TRANSCRIPT.replace(HOOK, hook.url)
        said = await typed(script, tmp_path, running, client, account)
    assert plain(said.replace(hook.url, HOOK)) == plain(TRANSCRIPT)
    assert verdicts[:2] == [True, False]
