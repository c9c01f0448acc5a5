"""What a backup says about itself, and which members it may have."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from roost.app.first_start import TOKEN_FILE

FORMAT = 1

MANIFEST = "manifest.json"
DATABASE = "database.dump"
KEY = "secret.key"
CATALOG = "catalog.toml"
ATTACHMENTS = "attachments"
ZONES = "powerdns/data/pdns.db"
TLS = ("tls/ca.key", "tls/ca.pem", "tls/certificate.pem", "tls/key.pem")
TOKEN = TOKEN_FILE

_SIMULATED = r"simulated/[a-z0-9][a-z0-9-]{0,62}/(?:state|domains)\.sqlite3"
_NAME = re.compile(
    "|".join(
        (
            *map(re.escape, (DATABASE, KEY, CATALOG, ZONES, TOKEN, *TLS)),
            rf"{ATTACHMENTS}/[0-9a-f]{{32}}",
            _SIMULATED,
        )
    )
)


def _check_name(name: str) -> str:
    """A member's name is its path in the state, so no other ones come near a disk."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not part of a backup")
    return name


class Member(BaseModel):
    """One file of the backup."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: Annotated[str, AfterValidator(_check_name)]
    size: Annotated[int, Field(ge=0)]
    """Bytes, unpacked."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Origin(BaseModel):
    """Where a backup comes from."""

    roost: Annotated[str, Field(pattern="^[0-9A-Za-z.+!-]{1,64}$")]
    """The version of Roost."""
    revision: Annotated[str, Field(pattern="^[0-9]{4}$")]
    """Of the database's tables."""
    made: datetime
    engines: Literal["auto", "simulated", "local"]
    """How the state was served last."""


class Manifest(Origin):
    """The last member; it vouches for all others."""

    format: int
    members: list[Member]

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]
