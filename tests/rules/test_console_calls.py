"""What the console shows of a call, and takes for a refusal."""

from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from roost.console.api import Answer
from roost.console.calls import calls_of
from roost.console.views import refused_of
from roost.resources.nodebalancers.endpoints import create_nodebalancer


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
