"""One request of a browser that is logged in: what it reads, and what its user may do."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request

from roost.console.api import Answer, Api, Json, path_of
from roost.console.filters import filter_of
from roost.console.operations import Operations, short_of, title_of, url_of
from roost.console.pages import Page, Pages, Read
from roost.console.schemas import Schemas
from roost.oauth.sessions import Visitor
from roost.web.registry import Endpoint
from roost.web.routing import Params, path_params

_POSITION = re.compile(rb"^id: ([0-9]+)$", re.MULTILINE)
DESTRUCTIVE = frozenset(
    {
        "cancel_account",
        "cancel_backups",
        "cancel_object_storage",
        "disable_tfa",
        "rebuild_instance",
        "restore_backup",
        "restore_database_backup",
        "restore_postgresql_backup",
    }
)
"""What can't be taken back, beside all that deletes."""


@dataclass(frozen=True, slots=True)
class Action:
    """A button that leads to the form of an operation."""

    operation: str
    title: str
    short: str
    """The same where the page says of what."""
    url: str
    destructive: bool
    refused: str | None = None
    """Why the user may not; None where they may."""


@dataclass(slots=True)
class Visit:
    request: Request
    visitor: Visitor
    api: Api
    pages: Pages
    schemas: Schemas
    page: Page
    params: Params
    answers: dict[str, Answer] = field(default_factory=dict)
    profile: Json = field(default_factory=dict)
    position: str | None = None
    """Of the stream of events, from before anything was read: what comes after it is not shown."""

    @property
    def operations(self) -> Operations:
        return self.pages.operations

    async def read(self) -> None:
        """All that the page reads, and who asks."""
        reads = {**self.page.reads, "": Read("view_profile")}
        found = await asyncio.gather(*(self._read(each) for each in reads.values()))
        self.answers = dict(zip(reads, found, strict=True))
        self.profile = self.answers.pop("").record

    async def _read(self, read: Read) -> Answer:
        endpoint = self.operations.by_name[read.operation]
        wanted, query = read.wanted, dict(read.query)
        asked = self.request.query_params
        query |= {name: asked[name] for name in endpoint.query if asked.get(name)}
        if read.listed:
            query |= {name: asked[name] for name in ("page", "page_size") if name in asked}
            wanted = filter_of(endpoint, asked) or wanted
        if wanted is not None:
            for name, value in self.params.items():
                wanted = wanted.replace(f"{{{name}}}", str(value))
        return await self.api.call(endpoint, self.params, query, wanted=wanted)

    async def call(self, operation: str, **query: str) -> Answer:
        """An operation with the page's parameters."""
        return await self.api.call(self.operations.by_name[operation], self.params, query)

    @property
    def base(self) -> str:
        """The scheme and host by which the browser has reached this server."""
        return str(self.request.base_url).rstrip("/")

    def months(self, count: int) -> list[tuple[int, int]]:
        """Year and month of the last ones, this one first."""
        now = self.visitor.site.clock.now()
        last = now.year * 12 + now.month - 1
        return [((last - n) // 12, (last - n) % 12 + 1) for n in range(count)]

    @property
    def main(self) -> Answer | None:
        """What the page is about."""
        return next(iter(self.answers.values()), None)

    async def actions(self, endpoints: Iterable[Endpoint]) -> Sequence[Action]:
        endpoints = list(endpoints)
        reasons: Mapping[str, str | None] = {}
        if self.profile.get("restricted") or self.profile.get("user_type") not in (None, "default"):
            explained = await asyncio.gather(*(self.lacks(each) for each in endpoints))
            reasons = dict(zip((each.name for each in endpoints), explained, strict=True))
        found = [
            Action(
                each.name,
                title_of(each),
                short_of(each),
                url_of(each, self.params),
                is_destructive(each),
                reasons.get(each.name),
            )
            for each in endpoints
            if set(path_params(each.path)) <= set(self.params)
        ]
        return sorted(found, key=lambda action: action.destructive)

    async def lacks(self, endpoint: Endpoint) -> str | None:
        """What the user lacks for an operation; None where nothing."""
        if not set(path_params(endpoint.path)) <= set(self.params):
            return None
        query = {"method": endpoint.method, "path": "/v4" + path_of(endpoint, self.params)}
        explain = self.operations.by_name["explain_request"]
        found = (await self.api.call(explain, {}, query)).record
        if found.get("allowed", True):
            return None
        if (grant := found.get("missing_grant")) is not None:
            return f"You need the grant: {grant}"
        if (closed := found.get("closed_to")) is not None:
            return f"This is closed to users of the kind {closed}"
        return f"You need the scopes: {found.get('missing_scopes')}"


async def position_of(api: Api, operations: Operations) -> str | None:
    """Where the stream of events is now."""
    answer = await api.call(operations.by_name["stream_events"], {}, {"seconds": "0"})
    found = _POSITION.search(answer.body) if answer.ok else None
    return None if found is None else found[1].decode()


def is_destructive(endpoint: Endpoint) -> bool:
    return endpoint.method == "DELETE" or endpoint.name in DESTRUCTIVE
