"""What a restricted user needs beside the token's scope (spec A auth 4)."""

import re
from dataclasses import dataclass
from types import MappingProxyType

from roost.core.access import covers, may
from roost.core.grant_queries import Permission
from roost.core.identity import Identity
from roost.errors import forbidden
from roost.store import Queries
from roost.web.routing import Params, path_params

_NAMED = re.compile(r"private/([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class OnEntity:
    """A grant on the entity that a parameter of the path names."""

    kind: str
    of: str | None = None
    """The parameter, where it is not the kind with `Id`, such as `volumeId`."""
    right: str | None = None
    """What is needed besides of the account as a whole, such as `add_computes`."""

    @property
    def parameter(self) -> str:
        return self.of or f"{self.kind}Id"


class Read(OnEntity):
    """read_only on the entity that the path names."""


class Write(OnEntity):
    """read_write on the entity that the path names."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of a kind, which shows restricted users what is granted to them."""

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


Grant = Read | Write | Listed | Global | AccountAccess | Unrestricted | Anyone


def check_declared(grant: Grant, method: str, path: str) -> None:
    """Raises ValueError when the path does not name the entity, or no list can be meant."""
    params = path_params(path)
    if isinstance(grant, OnEntity) and grant.parameter not in params:
        raise ValueError(f"{method} {path} has no parameter {grant.parameter}, which names a grant")
    if isinstance(grant, Listed) and (method != "GET" or f"{grant.kind}Id" in params):
        raise ValueError(f"{method} {path} is no list of all that a user has of a kind")


async def require(grant: Grant, identity: Identity, params: Params, db: Queries) -> None:
    """Raises 403 unless the user may."""
    if identity.restricted and not await _holds(grant, identity, params, db):
        raise forbidden()


def describe(grant: Grant, params: Params = MappingProxyType({})) -> str | None:
    """What a restricted user needs, such as `read_write on compute 100001`."""
    match grant:
        case Read():
            return _on_entity("read_only", grant, params)
        case Write():
            return _on_entity("read_write", grant, params)
        case Global(name):
            return f"the global grant {name}"
        case AccountAccess(level):
            return f"account_access {level}"
        case Unrestricted():
            return "to be an unrestricted user"
        case Anyone() | Listed():
            return None


def _on_entity(level: Permission, grant: OnEntity, params: Params) -> str:
    text = f"{level} on {grant.kind} {params.get(grant.parameter, '')}".rstrip()
    return text if grant.right is None else f"{text} and the global grant {grant.right}"


async def _holds(grant: Grant, identity: Identity, params: Params, db: Queries) -> bool:
    match grant:
        case Anyone() | Listed():
            return True
        case Global(name):
            return name in identity.rights
        case AccountAccess(level):
            return covers(identity.account_access, level)
        case Read():
            return await _may(db, identity, grant, params, "read_only")
        case Write():
            return await _may(db, identity, grant, params, "read_write")
        case Unrestricted():
            return False


async def _may(
    db: Queries, identity: Identity, grant: OnEntity, params: Params, wanted: Permission
) -> bool:
    entity_id = entity_number(params[grant.parameter])
    if entity_id is None or grant.right not in (None, *identity.rights):
        return False
    return await may(db, identity, grant.kind, entity_id, wanted)


def entity_number(named: int | str) -> int | None:
    """What grants call an entity: its number, or that in a name such as `private/15`.

    None for a name without one, on which nobody has a grant.
    """
    if isinstance(named, int):
        return named
    number = _NAMED.fullmatch(named)
    return int(number[1]) if number else None
