"""What a backup says about itself, and which members it may have."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from roost.app.first_start import TOKEN_FILE
from roost.app.host import HOME
from roost.settings import MAIN_HOST

FORMAT = 4
KNOWN_FORMATS = (1, 2, 3, 4)
"""Those of format 1 list no disks, those of 2 know of one host only, those of 3 have no
registers of object storage."""

MANIFEST = "manifest.json"
DATABASE = "database.dump"
KEY = "secret.key"
CATALOG = "catalog.toml"
ATTACHMENTS = "attachments"
ZONES = "powerdns/data/pdns.db"
REGISTERS = "seaweedfs/*/register.db"
"""Which folder of a region's objects is which bucket's, and what their URLs are signed with."""
TLS = ("tls/ca.key", "tls/ca.pem", "tls/certificate.pem", "tls/key.pem")
TOKEN = TOKEN_FILE
DISKS = "disks"
IMAGES = "images"
LIST_SUFFIX = ".pieces"
"""Of members that list the pieces of a file."""

_REGION = r"[a-z0-9][a-z0-9-]{0,62}"
_FILE = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,62}"
_SIMULATED = rf"simulated/{_REGION}/(?:state|domains)\.sqlite3"
_REGISTER = rf"seaweedfs/{_REGION}/register\.db"
_DISK = r"disk-[0-9]{1,18}"
_LISTED = (
    rf"{DISKS}/{_REGION}/compute-[0-9]{{1,18}}/(?:boot\.json|{_DISK}\.raw|{_DISK}\.image/{_FILE})",
    rf"{DISKS}/{_REGION}/volumes/volume-[0-9]{{1,18}}/data\.raw",
    rf"{DISKS}/{_REGION}/backups/backup-[0-9]{{1,18}}/(?:{_DISK}\.qcow2|{_DISK}\.image/{_FILE})",
    rf"{IMAGES}/[a-z0-9]{_FILE}/[a-z0-9]{_FILE}/{_FILE}",
)
_NAME = re.compile(
    "|".join(
        (
            *map(re.escape, (DATABASE, KEY, CATALOG, ZONES, TOKEN, HOME, *TLS)),
            rf"{ATTACHMENTS}/[0-9a-f]{{32}}",
            _SIMULATED,
            _REGISTER,
            *(f"{listed}{re.escape(LIST_SUFFIX)}" for listed in _LISTED),
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
    host: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,30}$")] = MAIN_HOST
    """Whose state it was. What is no host's, such as the database, is in a backup of `main`."""


class Manifest(Origin):
    """The last member; it vouches for all others."""

    format: int
    members: list[Member]

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    @property
    def lists(self) -> list[str]:
        """Members that list the pieces of files which are kept elsewhere."""
        return [name for name in self.names if name.endswith(LIST_SUFFIX)]
