"""Which operation is reached from which page.

A page is where the API's path is: `/console/volumes/7` shows what `GET /v4/volumes/7` answers. What
has no path of its own with a GET is done on the page above it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from pydantic import JsonValue

from roost.console.api import Json, path_of
from roost.console.words import words
from roost.web.registry import Array, Endpoint, Page, Registry
from roost.web.routing import Params, path_params, plain_path

PREFIX = "/console"

_ELSEWHERE: Mapping[str, str] = {
    "/networking/explain": "/networking/firewalls",
    "/networking/ipv4/assign": "/networking/ips",
    "/networking/ipv4/share": "/networking/ips",
    "/object-storage/cancel": "/object-storage/buckets",
}
"""Pages of what has none above it."""
_ROWS: Mapping[str, str] = {
    "list_buckets": "view_bucket",
    "list_databases": "view_mysql_database",
    "list_account_availability": "view_account_availability",
}
"""What a row of a list is, where its path does not say it."""
_BY_ENGINE: Mapping[tuple[str, object], str] = {
    ("view_mysql_database", "postgresql"): "view_postgresql_database",
}
"""The same, where a row says it."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    "clusterId": ("cluster", "id"),
    "bucket": ("label",),
    "tagLabel": ("label",),
    "regionId": ("region", "id"),
}
"""The fields of a row that are parameters of a path, where they have other names."""


STREAMS = frozenset({"stream_events"})
"""Whose answers do not end."""


@dataclass(frozen=True)
class Operations:
    """All operations of a registry, as a tree of pages."""

    registry: Registry

    @property
    def _listed(self) -> Iterator[Endpoint]:
        """But for the stream of events, which all pages follow."""
        return (each for each in self.registry if each.name not in STREAMS)

    @cached_property
    def by_name(self) -> Mapping[str, Endpoint]:
        return {each.name: each for each in self.registry}

    @cached_property
    def _pages(self) -> Mapping[str, Endpoint]:
        """What shows each path, with `{}` for parameters."""
        return {shape(each): each for each in self._listed if each.method == "GET"}

    def home(self, endpoint: Endpoint) -> Endpoint | None:
        """The operation on whose page this one is; None for a page at the top."""
        path = _ELSEWHERE.get(plain_path(endpoint.path))
        wanted = path or shape(endpoint)
        if path is None and endpoint.method == "GET":
            wanted = wanted.rpartition("/")[0]
        while wanted:
            if (page := self._pages.get(wanted)) is not None:
                return page
            wanted = wanted.rpartition("/")[0]
        return None

    @cached_property
    def _below(self) -> Mapping[str, tuple[Endpoint, ...]]:
        below: dict[str, tuple[Endpoint, ...]] = {}
        handlers = set()
        for each in self._listed:
            if each.handler in handlers:
                continue  # The same by another name.
            handlers.add(each.handler)
            if not each.deprecated and (home := self.home(each)) is not None:
                below[home.name] = (*below.get(home.name, ()), each)
        return below

    @cached_property
    def areas(self) -> Mapping[str, frozenset[str]]:
        """Of scopes that something needs: what each may be, by its area."""
        found: dict[str, frozenset[str]] = {}
        for scope in sorted({scope for each in self.registry for scope in each.scopes}):
            area, _, level = scope.partition(":")
            found[area] = found.get(area, frozenset()) | {level}
        return found

    def actions(self, page: Endpoint) -> tuple[Endpoint, ...]:
        """What can be done on the page of this operation, first what it is changed by."""
        found = (each for each in self._below.get(page.name, ()) if each.method != "GET")
        known = set(path_params(page.path))
        return tuple(each for each in found if set(path_params(each.path)) == known)

    def row_actions(self, page: Endpoint) -> tuple[Endpoint, ...]:
        """What can be done with each row of the page's list, which has no page of its own."""
        known = set(path_params(page.path))
        below = self._below.get(page.name, ())
        return tuple(
            each for each in below if each.method != "GET" and set(path_params(each.path)) > known
        )

    def tabs(self, page: Endpoint) -> tuple[Endpoint, ...]:
        """Pages below this one that need no more than it."""
        known = set(path_params(page.path))
        below = self._below.get(page.name, ())
        return tuple(
            each for each in below if each.method == "GET" and set(path_params(each.path)) == known
        )

    def top(self) -> tuple[Endpoint, ...]:
        """Pages that are below none."""
        return tuple(each for each in self._pages.values() if self.home(each) is None)

    def row_page(self, page: Endpoint) -> Endpoint | None:
        """What shows one row of a list."""
        if (name := _ROWS.get(page.name)) is not None:
            return self.by_name.get(name)
        if not isinstance(page.returns, Page | Array):
            return None
        return self._pages.get(shape(page) + "/{}")

    def shows(self, page: Endpoint, row: Json) -> Endpoint:
        """What shows this very row, where the rows of a list are shown by what they are."""
        other = _BY_ENGINE.get((page.name, row.get("engine")))
        return page if other is None else self.by_name[other]

    def row_params(self, endpoint: Endpoint, params: Params, row: Json) -> Params | None:
        """The parameters of a path to one row; None where the row does not say them."""
        found = dict(params)
        for name in path_params(endpoint.path):
            if name in params:
                continue
            value = first_of(row, _KEYS.get(name, (name, "id")))
            if not isinstance(value, str | int):
                return None
            found[name] = value
        return found


def first_of(row: Json, names: Iterable[str]) -> JsonValue:
    """The first value that the row has; None where it has none of them."""
    for name in names:
        if (value := row.get(name)) is not None:
            return value
    return None


@dataclass(frozen=True, slots=True)
class RowPath:
    """The address of an operation for each row of a list, with what all have in common."""

    endpoint: Endpoint
    parts: Sequence[str]
    """Between what the rows say."""
    keys: Sequence[tuple[Sequence[str], str]]
    """The fields of a row that say it, and what is not quoted of it."""

    @classmethod
    def of(cls, endpoint: Endpoint, params: Params) -> "RowPath":
        parts, keys = [PREFIX], list[tuple[Sequence[str], str]]()
        kinds = iter(path_params(endpoint.path).items())
        for n, piece in enumerate(re.split(r"\{[^{}]*\}", endpoint.path)):
            if n:
                name, kind = next(kinds)
                safe = "/" if kind == "path" else ""
                if name in params:
                    parts[-1] += quote(str(params[name]), safe=safe)
                else:
                    keys.append((_KEYS.get(name, (name, "id")), safe))
                    parts.append("")
            parts[-1] += piece
        if endpoint.method != "GET":
            parts[-1] += f"?do={endpoint.name}"
        return cls(endpoint, parts, keys)

    def to(self, row: Json) -> tuple[str, str] | None:
        """Its address, and the last of what the row says in it; None where it does not say it."""
        url, key = self.parts[0], ""
        for (names, safe), part in zip(self.keys, self.parts[1:], strict=True):
            value = first_of(row, names)
            if not isinstance(value, str | int):
                return None
            key = str(value)
            url += (key if key.isalnum() and key.isascii() else quote(key, safe=safe)) + part
        return url, key


def page_of(uri: object) -> str | None:
    """The page of a path that a record names."""
    is_path = isinstance(uri, str) and uri.startswith("/v4/")
    return f"{PREFIX}{str(uri)[3:]}" if is_path else None


def shape(endpoint: Endpoint) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", endpoint.path)


def url_of(endpoint: Endpoint, params: Params) -> str:
    """Of the page that shows it, or for what changes something, of its form."""
    url = PREFIX + path_of(endpoint, params)
    return url if endpoint.method == "GET" else f"{url}?do={endpoint.name}"


_SHORT: Mapping[str, str] = {
    "ips": "Addresses",
    "stats": "Statistics",
    "transfer": "Traffic",
    "ssl": "Certificate",
    "mutate": "Upgrade",
    "shutdown": "Shut down",
    "tfa-enable": "Enable two-factor",
    "tfa-enable-confirm": "Confirm two-factor",
    "tfa-disable": "Disable two-factor",
    "sshkeys": "SSH keys",
    "dnssec": "DNSSEC",
    "pdf": "PDF",
    "csv": "CSV",
}


def short_of(endpoint: Endpoint) -> str:
    """A word or two for a button or a tab, where the page says of what."""
    last = endpoint.path.rpartition("/")[2]
    if last == "cancel":
        return title_of(endpoint)
    if "{" in last or (endpoint.method == "POST" and endpoint.name.split("_")[0] in _MAKING):
        return {"PUT": "Edit", "DELETE": "Delete"}.get(endpoint.method, title_of(endpoint))
    text = _SHORT.get(last) or words(last)
    if endpoint.method in ("PUT", "DELETE"):
        return f"{'Edit' if endpoint.method == 'PUT' else 'Delete'} {text.lower()}"
    return text


_ARTICLES = frozenset({"a", "all", "an", "one", "the", "your"})
_MAKING = frozenset({"add", "allocate", "create", "open", "take"})


def subject_of(endpoint: Endpoint) -> str:
    """What a page shows, without the verb of its operation and the article after it."""
    rest = title_of(endpoint).split(" ")[1:]
    while rest and rest[0] in _ARTICLES:
        rest = rest[1:]
    text = " ".join(rest) or title_of(endpoint)
    return text[:1].upper() + text[1:]


def title_of(endpoint: Endpoint) -> str:
    """What it does, in a few words: without what its summary adds."""
    text = endpoint.summary.rstrip(".")
    return text if " and, " in text else re.split("[,;:] ", text)[0]


def reached(operations: Operations, hand_made: Iterable[str]) -> frozenset[str]:
    """The names of all operations that some page leads to."""
    made = [operations.by_name[name] for name in hand_made]
    queue, seen = [*operations.top(), *made], set[str]()
    while queue:
        page = queue.pop()
        if page.name in seen:
            continue
        seen.add(page.name)
        if page.method == "GET":
            row = operations.row_page(page)
            queue += [*operations.tabs(page), *([] if row is None else [row])]
            queue += [*operations.actions(page), *operations.row_actions(page)]
    return frozenset(seen)
