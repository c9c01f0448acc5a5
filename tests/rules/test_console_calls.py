"""What the console shows of a call, and takes for a refusal."""

from collections.abc import Mapping

import pytest
from pydantic import JsonValue
from starlette.types import Message, Receive, Scope, Send

from roost.console.api import Answer
from roost.console.calls import calls_of
from roost.console.live import Live
from roost.console.views import refused_of
from roost.resources.nodebalancers.endpoints import create_nodebalancer
from roost.web.headers import REVISION


@pytest.mark.parametrize(
    "body",
    [
        {"root_pass": "hush"},
        {"ssl_key": "hush"},
        {"configs": [{"port": 443, "ssl_key": "hush"}]},
        {"stackscript_data": {"db_password": "hush"}},
    ],
)
def test_secrets_are_left_out_wherever_they_are(body: Mapping[str, JsonValue]) -> None:
    calls = calls_of(create_nodebalancer, {}, body, "https://roost.example")
    assert "hush" not in calls.curl + calls.python + calls.cli
    assert next(iter(body)) in calls.curl


def _answer(status: int) -> Answer:
    return Answer("view_volume", status, {}, b"")


@pytest.mark.parametrize(
    ("statuses", "refused"),
    [
        ((), None),
        ((200, 200), None),
        ((404, 200), 404),
        ((200, 403), None),  # The page says what it can without it.
        ((200, 403, 429), 429),
    ],
)
def test_a_page_is_refused_with_what_it_is_about(
    statuses: tuple[int, ...], refused: int | None
) -> None:
    found = refused_of(map(_answer, statuses))
    assert (None if found is None else found.status) == refused


async def test_what_happens_is_told_in_the_words_of_the_page() -> None:
    """A session may be older than the release that makes the page."""
    asked: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope)

    async def nothing(message: Message | None = None) -> Message:
        return {}

    around = {"type": "http", "headers": [(b"roost-revision", b"2000-01-01"), (b"host", b"x")]}
    await Live(app, "t", "7")(around, nothing, nothing)  # type: ignore[arg-type]
    headers = [pair for pair in asked[0]["headers"] if pair[0] != b"host"]
    assert headers == [
        (b"last-event-id", b"7"),
        (b"roost-revision", REVISION.encode()),
        (b"authorization", b"Bearer t"),
    ]
