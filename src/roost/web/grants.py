"""What a restricted user needs beside the token's scope (spec A, Authentication rule 4)."""

from dataclasses import dataclass

from roost.errors import forbidden
from roost.web.auth import Identity


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
class Unrestricted:
    """Unrestricted users only."""


@dataclass(frozen=True, slots=True)
class Anyone:
    """No grant is needed."""


Grant = Read | Write | Global | Unrestricted | Anyone


def require(grant: Grant, identity: Identity) -> None:
    """Raises 403 unless the user may; a restricted user holds no grants yet."""
    if identity.restricted and not isinstance(grant, Anyone):
        raise forbidden()
