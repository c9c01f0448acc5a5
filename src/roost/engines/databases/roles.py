"""Who leads a cluster and whose data are of no use: a file that outlives whoever decides it."""

from typing import Generic

from pydantic import BaseModel

from roost.engines.databases.folder import NUMBERS
from roost.engines.databases.host import F


class Roles(BaseModel):
    """The roles of nodes, by number."""

    primary: int
    lost: list[int] = []
    """Nodes whose data are of no use any more."""


class RolesFile(Generic[F]):
    """The roles of one cluster's nodes. Whoever changes it holds the folder."""

    def __init__(self, folder: F) -> None:
        self._folder = folder

    def read(self) -> Roles:
        return Roles.model_validate_json(self._folder.read("roles") or '{"primary": 1}')

    def write(self, roles: Roles) -> None:
        """For good, also after a loss of power."""
        self._folder.write("roles", roles.model_dump_json())

    def change_lost(self, number: int, *, lost: bool) -> None:
        roles = self.read()
        left = {*roles.lost} - {number}
        self.write(Roles(primary=roles.primary, lost=sorted(left | ({number} if lost else set()))))

    def replicas(self) -> list[int]:
        primary = self.read().primary
        return [number for number in NUMBERS if number != primary]

    def following(self) -> list[F]:
        """Replicas with data that are of use."""
        lost = self.read().lost
        return [self._folder.node(each) for each in self.replicas() if each not in lost]
