"""PostgreSQL's own programs as clients of a managed database."""

from dataclasses import dataclass
from pathlib import Path

from roost.engines.databases.programs import run
from roost.engines.postgresql.releases import program
from roost.resources.databases.engine import Access, DatabaseSpec

AT_HOME = "127.0.0.1"
"""From where programs of this host come."""


@dataclass(frozen=True)
class Programs:
    """They come by names and by TLS, as their manuals say (`sslmode=verify-full`)."""

    access: Access
    spec: DatabaseSpec
    place: Path
    """The folder that they work in."""

    def __post_init__(self) -> None:
        self.authority.write_text(self.access.ca_certificate)

    @property
    def authority(self) -> Path:
        """The certificate by which they know the server."""
        return self.place / f"ca-{self.spec.id}.pem"

    async def call(
        self, name: str, *options: str, database: str = "postgres", mode: str = "verify-full"
    ) -> str:
        """What it prints. Raises EngineError when it fails."""
        host = self.access.hosts.primary
        login = (
            f"host={host.name} hostaddr={host.address} port={self.access.port}"
            f" user={self.spec.username} password={self.spec.password} dbname={database}"
            f" sslmode={mode} sslrootcert={self.authority}"
        )
        major = self.spec.shape.version.partition(".")[0]
        command = (str(program(major, name)), f"--dbname={login}", *options)
        return await run(name, command, cwd=self.place)

    async def ask(self, statement: str, database: str = "postgres") -> str:
        """What a statement answers, row by row."""
        return await self._psql(f"--command={statement}", database)

    async def read(self, file: str, database: str) -> str:
        """What a file of statements answers, all of which hold or none."""
        return await self._psql(f"--file={file}", database, "--single-transaction")

    async def _psql(self, what: str, database: str, *how: str) -> str:
        plain = ("--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1")
        return (await self.call("psql", *plain, *how, what, database=database)).strip()
