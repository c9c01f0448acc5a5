"""What the API offers: each endpoint is one declaration.

Routing, authentication, scope and grant checks, body validation, rate limits, metrics and the
OpenAPI document all come from the declarations that a Registry collects.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from types import ModuleType
from typing import Literal, TypeVar, overload

from typing_extensions import TypedDict, Unpack

from roost.core.identity import Identity, TokenKind, UserType
from roost.store.paging import Column
from roost.web.bodies import Body
from roost.web.call import Call
from roost.web.grants import Anyone, Grant, check_declared
from roost.web.reply import Reply
from roost.web.routing import Router, plain_path

Method = Literal["GET", "POST", "PUT", "DELETE"]
Result = str | bytes | Mapping[str, object] | Reply | None
"""JSON text as PostgreSQL made it, a row to dump, nothing to say (`{}`), or a whole answer."""

B = TypeVar("B", bound=Body)
T = TypeVar("T")
Handler = Callable[..., Awaitable[Result]]
Prepare = Callable[..., Awaitable[object]]
After = Callable[[Call, Reply], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Upload:
    """A body that is not JSON, with its Content-Type."""

    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class DryRun:
    """Declares that a write can be tried, as all that it does is in its transaction."""

    later: Callable[[Call], Awaitable[None]] | None = None
    """Writes to the ledger what a job of the write is going to write there."""


Intake = Callable[[Call, Upload], AbstractAsyncContextManager[T]]
"""What such a body becomes, with an end that learns whether the request came to a good one."""


@dataclass(frozen=True, slots=True)
class Page:
    """`returns=Page(Row)`: the collection envelope (spec A envelope)."""

    row: type


@dataclass(frozen=True, slots=True)
class Array:
    """`returns=Array(Row)`: a bare JSON array, where the reference has one."""

    row: type


@dataclass(frozen=True, slots=True)
class Binary:
    """`returns=Binary("image/png")`: not JSON; the handler returns a Reply."""

    media_type: str


@dataclass(frozen=True, slots=True)
class Maybe:
    """`returns=Maybe(Row)`: a record, or `NO_CONTENT` where the reference has none."""

    row: type


@dataclass(frozen=True, slots=True)
class Stream:
    """`returns=Stream(Row)`: records as Server-Sent Events, each in one line of `data`."""

    row: type


EVENT_STREAM = "text/event-stream"

NO_CONTENT = Reply(204, b"")


@dataclass(frozen=True, slots=True)
class Accepted:
    """`returns=Accepted(Row)`: a record, with a warning (202) where it is not done in a moment."""

    row: type


Returns = type | Page | Array | Maybe | Accepted | Binary | Stream | None


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `calls` in `seconds`, for each user or, without a token, each address."""

    calls: int
    seconds: int


GENERAL_RATE = Rate(1600, 120)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path."""

    method: Method
    path: str
    handler: Handler
    name: str
    summary: str
    description: str
    """What the documentation says beside the summary; Markdown."""
    area: str
    scopes: tuple[str, ...] = ()
    public: bool = False
    """Whether it answers without a token."""
    grant: Grant = field(default_factory=Anyone)
    refuses: tuple[UserType | TokenKind, ...] = ()
    """Types of users and kinds of tokens to which it is closed, whatever grants and scopes
    (spec B account 3, B account 4)."""
    body: type[Body] | None = None
    accepts: tuple[str, ...] = ()
    """Media types of a body that is not JSON; the handler is given its bytes."""
    prepare: Prepare | None = None
    """Makes of the body what the handler is given, before the transaction begins: look-ups,
    parsing and hashing hold no connection. It is given the call, whose `db` is the store."""
    intake: Intake[object] | None = None
    """Work before the transaction for an upload that is stored elsewhere, and taken back when the
    request fails."""
    after: After | None = None
    """Looks for a moment at what a write has begun, once its transaction has ended: the answer
    may become another one, or an ApiError. Its call's `db` is the store."""
    max_body: int | None = None
    """Bytes of the body; the setting's when None."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the query, beside those of all lists, and what they mean."""
    returns: Returns = None
    of: "Endpoint | None" = None
    """The endpoint that shows the object of the path; where there are an object and a body."""
    filters: Mapping[str, Column] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    rate: Rate = GENERAL_RATE
    cache_seconds: int = 0
    dry_run: DryRun | None = None
    waits: bool = False
    """Whether a list can be asked to wait until one of its rows has another status."""
    deprecated: bool = False
    """Whether something else should be used instead; the text says what."""

    @property
    def writes(self) -> bool:
        return self.method != "GET"

    @property
    def can_wait(self) -> bool:
        """Whether it can be asked to wait: for a status, which records of one thing have."""
        if self.waits:
            return True
        is_one = self.method == "GET" and "{" in self.path and isinstance(self.returns, type)
        return is_one and "status" in self.returns.__annotations__

    @property
    def has_version(self) -> bool:
        """Whether its answers have an entity tag."""
        return self.method == "GET" and not isinstance(self.returns, Stream)

    def closed_to(self, identity: Identity) -> UserType | TokenKind | None:
        """What about the caller is refused, if anything."""
        facts = (identity.user_type, identity.token_kind)
        return next((fact for fact in facts if fact in self.refuses), None)


class Options(TypedDict, total=False):
    """The optional parts of a declaration; see Endpoint."""

    after: After
    max_body: int
    scopes: tuple[str, ...]
    public: bool
    grant: Grant
    refuses: tuple[UserType | TokenKind, ...]
    query: Mapping[str, str]
    returns: Returns
    of: Endpoint
    filters: Mapping[str, Column]
    events: tuple[str, ...]
    rate: Rate
    cache_seconds: int
    dry_run: DryRun
    waits: bool
    deprecated: bool


@overload
def endpoint(
    method: Method, path: str, *, body: None = None, **options: Unpack[Options]
) -> Callable[[Callable[[Call], Awaitable[Result]]], Endpoint]: ...


@overload
def endpoint(
    method: Method, path: str, *, body: type[B], **options: Unpack[Options]
) -> Callable[[Callable[[Call, B], Awaitable[Result]]], Endpoint]: ...


@overload
def endpoint(
    method: Method,
    path: str,
    *,
    body: type[B],
    prepare: Callable[[Call, B], Awaitable[T]],
    **options: Unpack[Options],
) -> Callable[[Callable[[Call, T], Awaitable[Result]]], Endpoint]: ...


@overload
def endpoint(
    method: Method,
    path: str,
    *,
    accepts: tuple[str, ...],
    prepare: Callable[[Call, bytes], Awaitable[T]],
    **options: Unpack[Options],
) -> Callable[[Callable[[Call, T], Awaitable[Result]]], Endpoint]: ...


@overload
def endpoint(
    method: Method, path: str, *, accepts: tuple[str, ...], **options: Unpack[Options]
) -> Callable[[Callable[[Call, bytes], Awaitable[Result]]], Endpoint]: ...


@overload
def endpoint(
    method: Method,
    path: str,
    *,
    accepts: tuple[str, ...],
    intake: Intake[T],
    **options: Unpack[Options],
) -> Callable[[Callable[[Call, T], Awaitable[Result]]], Endpoint]: ...


def endpoint(
    method: Method,
    path: str,
    *,
    body: type[Body] | None = None,
    accepts: tuple[str, ...] = (),
    prepare: Prepare | None = None,
    intake: Intake[object] | None = None,
    **options: Unpack[Options],
) -> Callable[[Handler], Endpoint]:
    """Declare an endpoint; `path` is relative to `/v4`. ValueError when the grant does not fit it.

    The handler's name becomes the operation's name, the first line of its docstring the summary
    and what follows the description, its package the area of the documentation.
    """

    check_declared(options.get("grant", Anyone()), method, path)

    def declare(handler: Handler) -> Endpoint:
        summary, _, description = (handler.__doc__ or "").strip().partition("\n")
        return Endpoint(
            method,
            path,
            handler,
            name=handler.__name__,
            summary=summary,
            description=cleandoc(description),
            area=handler.__module__.split(".")[-2],
            body=body,
            accepts=accepts,
            prepare=prepare,
            intake=intake,
            **options,
        )

    return declare


def renamed(
    of: Endpoint, name: str, path: str, summary: str, *, deprecated: bool = False
) -> Endpoint:
    """An operation that is there also by another name and path."""
    description = f"The same as `{of.method} {plain_path(of.path)}`."
    return replace(
        of,
        name=name,
        path=path,
        summary=summary,
        description=description,
        deprecated=deprecated,
    )


class Registry:
    """All endpoints of some modules, by path and by name, but those `without`; and `more` that no
    module declares."""

    def __init__(
        self,
        modules: Iterable[ModuleType],
        more: Iterable[Endpoint] = (),
        without: Collection[str] = (),
    ) -> None:
        self.router: Router[Endpoint] = Router()
        self._by_name: dict[str, Endpoint] = {}
        for module in modules:
            for value in vars(module).values():
                if isinstance(value, Endpoint) and value.name not in without:
                    self._add(value)
        for endpoint in more:
            self._add(endpoint)

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(self._by_name.values())

    def shapes(self) -> frozenset[str]:
        """All paths, with `{}` for each parameter."""
        return frozenset(re.sub(r"\{[^{}]*\}", "{}", each.path) for each in self)

    def _add(self, declared: Endpoint) -> None:
        if declared.name in self._by_name:
            raise ValueError(f"two endpoints are named {declared.name}")
        has_body = declared.body is not None or declared.accepts
        if has_body and "{" in declared.path and declared.of is None:
            raise ValueError(f"{declared.name} does not say what shows its object")
        self._by_name[declared.name] = declared
        self.router.add(declared.method, declared.path, declared)
