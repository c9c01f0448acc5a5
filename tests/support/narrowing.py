"""Narrowed tokens, and what refuses them."""

import json

from roost.core.narrowing.restrictions import narrow, parse
from tests.support.client import Answer, Client, Json


def narrowed(client: Client, *restrictions: Json) -> Client:
    """The client of a token that was made of this one's."""
    assert client.token is not None
    token = client.token
    for each in restrictions:
        token = narrow(token, parse(json.dumps(each)))
    return client.as_user(token)


def refused(answer: Answer, restriction: str) -> bool:
    """Whether this restriction was the reason."""
    reason = f"The token is restricted: {restriction}"
    return answer.status == 403 and answer.problems == [(None, reason)]
