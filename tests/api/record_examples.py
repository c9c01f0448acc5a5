"""Writes the examples of the OpenAPI document: what a server answers, with its chances taken out.

`scripts/record-examples` runs it. It asks for what the file lacks, or for all anew.
"""

import json
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import get_type_hints, is_typeddict
from uuid import UUID

from roost.app.groups import GROUPS
from roost.app.roost import Roost
from roost.web.openapi import examples
from roost.web.openapi.schemas import row_of
from roost.web.registry import Array, Endpoint, Page, Registry
from tests.api.conftest import Account, NewAccount, NewToken
from tests.api.doors import knock
from tests.api.samples.paths import (
    become_welcome,
    make_row,
    sample_path,
    sample_query,
)
from tests.support.client import Answer, Client, Json

_ALL = "RECORD_ALL_EXAMPLES"
_TIME = "2030-01-31T12:00:00"
_ID = 1001
_PATTERN = "62ba23b5cb704749816d7493adeedc66"
_LONGEST = 600
"""Characters of a text; what is longer is cut."""
_RANDOM = re.compile(
    r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?<![0-9a-f])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9a-f])"
)
_CHANCES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"), lambda _: _TIME),
    (_RANDOM, lambda found: _random(found[0])),
    (re.compile(r"user[0-9]+-[0-9]+"), lambda _: "ada"),
    (re.compile(r"(?<![0-9])1[0-9]{5}(?![0-9])"), lambda _: str(_ID)),
    (re.compile(r"(?:127\.0\.0\.1|localhost):[0-9]+"), lambda _: "cloud.example.com"),
    (re.compile(r"(?<=secret=)[A-Z2-7]+|(?<=image-uploads/).+"), lambda found: _secret(found[0])),
)
"""What differs from run to run, and what the document shows instead."""
_SECRETS = ("access_key", "password", "secret", "secret_key")


async def test_record(
    nobody: Client, roost: Roost, new_account: NewAccount, new_token: NewToken
) -> None:
    kept, missing = dict(examples.recorded()), []
    for row, endpoints in _by_record():
        name = row.__name__
        if os.environ.get(_ALL) or not _fits(kept.get(name), row):
            async for answer in _answers(endpoints, nobody, roost, new_account, new_token):
                kept[name] = _tidy(answer)
                break
        if not _fits(kept.get(name), row):
            missing.append(name)
    text = json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False)
    Path(examples.__file__).with_name(examples.FILE).write_text(f"{text}\n")
    assert not missing, f"nothing answers with these, write them down by hand: {missing}"


def _fits(example: Json, row: type) -> bool:
    """Whether it has the fields of the record, as far as that has fixed ones."""
    if not is_typeddict(row):
        return example is not None
    required: frozenset[str] = vars(row)["__required_keys__"]
    return example is not None and required <= example.keys() <= get_type_hints(row).keys()


def _by_record() -> Iterator[tuple[type, list[Endpoint]]]:
    """The operations that answer with a record, the most telling first."""
    found: dict[type, list[Endpoint]] = {}
    for endpoint in Registry(GROUPS.endpoints):
        row = row_of(endpoint.returns)
        if row is not None:
            found.setdefault(row, []).append(endpoint)
    for row, endpoints in found.items():
        yield row, sorted(endpoints, key=_order)


def _order(endpoint: Endpoint) -> tuple[bool, bool, bool]:
    """What is made as the document's example says comes before what a sample makes."""
    is_list = isinstance(endpoint.returns, Page | Array)
    return endpoint.body is None, endpoint.method != "POST", is_list


async def _answers(
    endpoints: list[Endpoint],
    nobody: Client,
    roost: Roost,
    new_account: NewAccount,
    new_token: NewToken,
) -> AsyncIterator[Json]:
    for endpoint in endpoints:
        account = await new_account()
        client = nobody.as_user(await new_token(account))
        await become_welcome(endpoint, client, roost, account)
        answer = await _ask(endpoint, client, roost, account)
        if answer.status == 200:
            body = answer.body
            rows = body["data"] if isinstance(endpoint.returns, Page) else body
            if not isinstance(endpoint.returns, Page | Array):
                yield body
            elif rows:
                yield rows[0]


async def _ask(endpoint: Endpoint, client: Client, roost: Roost, account: Account) -> Answer:
    path, query = await sample_path(endpoint, client, roost, account), sample_query(endpoint)
    if endpoint.writes:
        return await knock(endpoint, client, path)
    if isinstance(endpoint.returns, Page):
        await make_row(endpoint, path, client, roost, account)
    return await client.send("GET", f"{path}?{query}" if query else path)


def _tidy(value: Json, name: str = "") -> Json:
    """An answer with one id, one time and one random text for all."""
    if isinstance(value, dict):
        return {key: _tidy(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_tidy(each, name) for each in value]
    if isinstance(value, int) and 100_000 <= value < 200_000:
        return _ID
    if not isinstance(value, str):
        return value
    if name in _SECRETS and value.isalnum():
        return _secret(value)
    for pattern, shown in _CHANCES:
        value = pattern.sub(shown, value)
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


def _random(value: str) -> str:
    """A UUID, or so many hexadecimal digits; they are the same each time."""
    shown = str(UUID(_PATTERN)) if "-" in value else (_PATTERN * 8)[: len(value)]
    return shown.upper() if value == value.upper() else shown


def _secret(value: str) -> str:
    """A text of the same length and kind that nobody takes for a secret."""
    shown = ("Example" * 99)[: len(value)]
    return shown.upper() if value == value.upper() else shown
