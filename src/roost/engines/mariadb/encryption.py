"""Data at rest that nobody reads without the platform's key.

Each database has a key of its own, which is on disk only as the platform's key seals it. In the
clear it is where its server sees it alone: in memory, mounted in the server's mount namespace.
"""

import secrets
from pathlib import Path

from pydantic import SecretStr

from roost.core.engine import EngineError
from roost.engines.databases.folder import INSIDE
from roost.engines.databases.mounts import within as mounts_within
from roost.engines.databases.programs import Command, run
from roost.engines.mariadb.folder import Folder
from roost.secrets import Box

_BYTES = 32
_NAME = "sealed-key"
_MEMORY = INSIDE / "keys"

_ONLY_INNODB = "enforce-storage-engine"
"""Not while the server's own tables are made."""

SETTINGS: dict[str, object] = {
    "plugin-load-add": "file_key_management",
    "file-key-management-filename": _MEMORY / "key",
    "file-key-management-encryption-algorithm": "AES_CTR",
    "innodb-encrypt-tables": "FORCE",
    "innodb-encrypt-log": "ON",
    "innodb-encrypt-temporary-tables": "ON",
    "innodb-encryption-threads": 1,
    "encrypt-tmp-disk-tables": "ON",
    "encrypt-tmp-files": "ON",
    "encrypt-binlog": "ON",
    "aria-encrypt-tables": "ON",
    _ONLY_INNODB: "InnoDB",
}
"""Settings of a server. Other storage engines would write what they hold in the clear."""

_UNLOCK = (
    'mount -t ramfs -o mode=0711 keys "$1/keys" && cat > "$1/keys/key"'
    ' && chown "$2" "$1/keys/key" && chmod 0400 "$1/keys/key"'
)
_NO_REMAINS = "export GLIBC_TUNABLES=glibc.malloc.perturb=165"
"""Memory is filled as it is taken: Aria writes the unused rest of an index page as it was."""


class Keys:
    """The keys of the databases of one host."""

    def __init__(self, file: Path) -> None:
        """`file`: the platform's key, made there when it is first needed."""
        self._file = file

    def make(self, folder: Folder) -> None:
        """For an encrypted database, unless it has one."""
        if not folder.read(_NAME):
            folder.write(_NAME, Box.from_file(self._file).seal(secrets.token_bytes(_BYTES)).hex())

    def of(self, folder: Folder) -> SecretStr | None:
        """As the server reads it; None of a database that is not encrypted. EngineError."""
        sealed = folder.read(_NAME)
        if not sealed:
            return None
        try:
            return SecretStr(f"1;{Box.from_file(self._file).open(bytes.fromhex(sealed)).hex()}\n")
        except ValueError:
            raise EngineError("The key of the database was sealed with another key") from None


def copy_key(source: Folder, target: Folder) -> None:
    """What reads the data of one database reads those of the other one."""
    if sealed := source.read(_NAME):
        target.write(_NAME, sealed)


def options() -> tuple[str, ...]:
    """The settings, for the program that prepares an empty data folder."""
    used = {name: value for name, value in SETTINGS.items() if name != _ONLY_INNODB}
    return tuple(f"--{name}={value}" for name, value in used.items())


async def plugin_folder() -> str:
    """Where the server finds its plugins; other programs must be told."""
    words = await run("MariaDB does not run", ("mariadbd", "--no-defaults", "--verbose", "--help"))
    lines = (line.split() for line in words.splitlines())
    return next(line[1] for line in lines if line[:1] == ["plugin-dir"] and len(line) == 2)


def within(
    folder: Folder, user: str, key: SecretStr | None, command: Command, *mounts: str
) -> Command:
    """The command where the folder is at a place that all can reach, and the key in memory beside
    its data; the key is to be the command's input. `mounts`: shell, what else is mounted there."""
    if key is None:
        return mounts_within(folder, user, command, *mounts)
    Path(folder.path, "keys").mkdir(mode=0o700, exist_ok=True)
    return mounts_within(folder, user, command, _UNLOCK, _NO_REMAINS, *mounts)
