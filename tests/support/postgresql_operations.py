"""The operations of managed PostgreSQL, and which of them somebody has called."""

import re
from collections.abc import Mapping

from tests.support.client import Answer, Client, Json
from tests.support.databases import POSTGRESQL

COUNT = 14
"""Of the reference."""

Operation = tuple[str, str]
"""Method, and path with `{}` for each id."""


class Noting(Client):
    """Speaks as another client does, and remembers which of them it was answered."""

    def __init__(self, client: Client) -> None:
        self.__dict__.update(client.__dict__)
        self.done: set[Operation] = set()

    async def send(
        self,
        method: str,
        path: str,
        body: Json = None,
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
    ) -> Answer:
        answer = await super().send(method, path, body, headers, data)
        if answer.status == 200 and path.startswith(POSTGRESQL):
            self.done.add((method, re.sub(r"/\d+", "/{}", path.partition("?")[0])))
        return answer


def documented(client: Client) -> set[Operation]:
    """All of them, as the OpenAPI document has them."""
    paths = client._contract._document["paths"]
    found = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path.removeprefix("/v4")))
        for path, methods in paths.items()
        for method in methods
        if path.startswith(f"/v4{POSTGRESQL}") and method != "parameters"
    }
    assert len(found) == COUNT
    return found
