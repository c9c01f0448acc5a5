"""A SeaweedFS that the operator runs: masters, volume servers, filers and gateways."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from roost.engines.seaweedfs.server import ROOT
from roost.errors import OperatorError

Secret = Annotated[str, Field(min_length=16, max_length=256)]


class ClusterEntry(BaseModel):
    """Where the cluster of a region is, and how to be its operator (docs/operating.md)."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    url: Annotated[str, Field(pattern=r"^https?://[^/\\s]+$")]
    """Of a gateway, or of a proxy in front of several: for S3 clients and for Roost."""
    filer: Annotated[str, Field(pattern=r"^[^/\\s]+:[0-9]{1,5}$")]
    """Host and port of a filer's gRPC."""
    metrics: Annotated[list[str], Field(min_length=1, max_length=100)]
    """URLs of the counters of all gateways."""
    access_key: Annotated[str, Field(min_length=3, max_length=128)] = ROOT
    secret_key: Secret
    """Of the identity with the action Admin that the gateways' own file has."""
    signing_key: Secret
    """`[jwt.filer_signing]` of the filers' security.toml."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cluster is, and how to be its operator."""

    url: str
    filer: str
    """Host and port of its gRPC."""
    metrics: tuple[str, ...]
    """The URLs of the counters of each gateway."""
    secret: str
    """That of the operator's key."""
    access_key: str
    signing_key: str
    """By which the filer knows the operator."""


class Cluster:
    """In place of a server of our own: it is always there, and nobody starts or stops it here."""

    exists = True

    def __init__(self, entry: ClusterEntry) -> None:
        self._place = Place(
            entry.url,
            entry.filer,
            tuple(entry.metrics),
            entry.secret_key,
            entry.access_key,
            entry.signing_key,
        )

    async def ensure(self) -> Place:
        return self._place

    async def reserve(self) -> str:
        return self._place.url

    async def stop(self) -> None:
        """It is the operator's."""


def read(file: Path) -> dict[str, ClusterEntry]:
    """Those of a file, by region. OperatorError when it cannot be read."""
    try:
        tables = tomllib.loads(file.read_text())
        return {region: ClusterEntry.model_validate(each) for region, each in tables.items()}
    except ValidationError as error:
        wrong = error.errors(include_input=False)[0]
        place = ".".join(str(part) for part in wrong["loc"])
        raise OperatorError(f"{file}: {place}: {wrong['msg']}") from None
    except (OSError, ValueError) as error:
        raise OperatorError(f"{file}: {error}") from None
