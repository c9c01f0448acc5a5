"""Files from a page into a bucket: by parts, of a script, or small ones by a plain form."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from roost.console import parts
from roost.console.file_forms import RefusedError, Sent, read_files
from roost.console.pages import Page
from roost.console.parts import Bucket, refused
from roost.console.reading import read_form
from roost.console.render import redirect, show
from roost.console.visit import Visit
from roost.oauth.sessions import Visitor

PATH = "/object-storage/buckets/{clusterId}/{bucket}/upload"
PAGE = Page(PATH, "Upload to {bucket}", "objects/uploaded.html")
MOST = 32
"""Requests that send something at once, of a process."""
MOST_EACH = 4
"""Of one user."""
LOGGED_OUT = "You are logged out. Log in on another page, then send it again."
OTHER_LOGIN = "You have logged in anew since. Send it again."
NOT_SENT = "Not sent"
TOO_MANY = "Too many files are sent at once"
NO_FILE = "No file was chosen"


@dataclass(frozen=True, slots=True)
class Places:
    """Who sends something to this process."""

    _taken: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def one(self, username: str) -> Iterator[bool]:
        """Whether there was one left."""
        is_free = self._taken.total() < MOST and self._taken[username] < MOST_EACH
        self._taken[username] += is_free
        try:
            yield is_free
        finally:
            self._taken[username] -= is_free
            if not self._taken[username]:
                del self._taken[username]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file."""

    name: str
    reason: str
    """Why it was refused; empty where it was not."""


async def answer(visitor: Visitor, bucket: Bucket, places: Places, request: Request) -> Response:
    """To a script of the bucket's page."""
    if visitor.user is None:
        return refused(401, LOGGED_OUT, goes_on=True)
    # Before anything is read of a body.
    if not visitor.holds(request.headers.get("x-csrf", "")):
        return refused(403, OTHER_LOGIN, goes_on=True)
    if request.method == "DELETE":
        return await parts.abort(bucket, request.query_params)
    with places.one(visitor.user.username) as is_free:
        if not is_free:
            return refused(429, TOO_MANY)
        if request.method == "PUT":
            return await parts.put(bucket, request)
        sent = await read_form(request)
        if "etags" in sent:
            return await parts.complete(bucket, sent)
        return await parts.begin(bucket, sent)


async def answer_form(visit: Visit, bucket: Bucket, places: Places) -> Response:
    """Back to the bucket, where all went well; else what became of each file."""
    user = visit.visitor.user
    assert user is not None
    with places.one(user.username) as is_free:
        if not is_free:
            return _page(visit, 429, TOO_MANY)
        try:
            sent = await read_files(visit.request, visit.visitor.holds)
        except RefusedError as error:
            return _page(visit, error.status, error.reason)
        outcomes = await _put_all(bucket, sent)
    prefix = sent.text("prefix")
    if not outcomes:
        return _page(visit, 400, NO_FILE, prefix=prefix)
    if any(each.reason for each in outcomes):
        return _page(visit, 400, "", outcomes, prefix)
    return redirect(_back(visit, prefix))


async def _put_all(bucket: Bucket, sent: Sent) -> list[Outcome]:
    outcomes, is_reached = list[Outcome](), True
    for file in sent.files:
        name = sent.text("prefix") + file.name
        if not is_reached:
            outcomes.append(Outcome(name, NOT_SENT))
            continue
        told = await parts.put_bytes(bucket, name, file.kind, bytes(file.body))
        outcomes.append(Outcome(name, told.reason))
        is_reached = told.status != 502
    return outcomes


def _page(
    visit: Visit,
    status: int,
    problem: str,
    outcomes: list[Outcome] | None = None,
    prefix: str = "",
) -> Response:
    values = {"problem": problem, "outcomes": outcomes or [], "back": _back(visit, prefix)}
    return show(visit, PAGE.template, status, **values)


def _back(visit: Visit, prefix: str = "") -> str:
    """The page of the bucket."""
    here = visit.request.scope["raw_path"].decode("ascii", "replace").removesuffix("/upload")
    return f"{here}?{urlencode({'prefix': prefix})}" if prefix else here
