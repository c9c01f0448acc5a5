"""What a restricted user needs beside the token's scope (spec A, Authentication rule 4)."""

from dataclasses import dataclass
from types import MappingProxyType

from roost.errors import forbidden
from roost.store import Queries
from roost.web import grant_queries
from roost.web.auth import Identity
from roost.web.call import Call
from roost.web.grant_queries import Permission
from roost.web.routing import Params


@dataclass(frozen=True, slots=True)
class Read:
    """read_only on the entity that the path names, or on any of its kind in a list."""

    kind: str


@dataclass(frozen=True, slots=True)
class Write:
    """read_write on the entity that the path names."""

    kind: str


@dataclass(frozen=True, slots=True)
class Global:
    """A right of the whole account, such as `add_computes`."""

    name: str


@dataclass(frozen=True, slots=True)
class AccountAccess:
    """A level of `account_access` (reference: Grants)."""

    level: Permission


@dataclass(frozen=True, slots=True)
class Unrestricted:
    """Unrestricted users only."""


@dataclass(frozen=True, slots=True)
class Anyone:
    """No grant is needed."""


Grant = Read | Write | Global | AccountAccess | Unrestricted | Anyone


async def require(grant: Grant, identity: Identity, params: Params, db: Queries) -> None:
    """Raises 403 unless the user may. An entity is named by the path's first number."""
    if identity.restricted and not await _holds(grant, identity, params, db):
        raise forbidden()


def describe(grant: Grant, params: Params = MappingProxyType({})) -> str | None:
    """What a restricted user needs, such as `read_write on compute 100001`."""
    match grant:
        case Read(kind):
            return f"read_only on {kind}{_number(params)}"
        case Write(kind):
            return f"read_write on {kind}{_number(params)}"
        case Global(name):
            return f"the global grant {name}"
        case AccountAccess(level):
            return f"account_access {level}"
        case Unrestricted():
            return "to be an unrestricted user"
        case Anyone():
            return None


async def give_to_creator(call: Call, kind: str, entity_id: int) -> None:
    """A restricted user may do everything with what they create."""
    if call.identity.restricted:
        await grant_queries.give(call.db, call.identity.user_id, kind, entity_id, "read_write")


async def _holds(grant: Grant, identity: Identity, params: Params, db: Queries) -> bool:
    match grant:
        case Anyone():
            return True
        case Global(name):
            return name in identity.rights
        case AccountAccess(level):
            return _covers(identity.account_access, level)
        case Read(kind):
            entity_id = _entity(params)
            # A list shows only what is granted.
            return entity_id is None or await _may(db, identity, kind, entity_id, "read_only")
        case Write(kind):
            entity_id = _entity(params)
            return entity_id is not None and await _may(db, identity, kind, entity_id, "read_write")
        case Unrestricted():
            return False


async def _may(
    db: Queries, identity: Identity, kind: str, entity_id: int, wanted: Permission
) -> bool:
    held = await grant_queries.permission(db, identity.user_id, kind, entity_id)
    return _covers(held, wanted)


def _covers(held: Permission | None, wanted: Permission) -> bool:
    return held == "read_write" or held == wanted


def _entity(params: Params) -> int | None:
    return next((value for value in params.values() if isinstance(value, int)), None)


def _number(params: Params) -> str:
    number = _entity(params)
    return "" if number is None else f" {number}"
