"""Request bodies of tags (spec B tags; reference: operations)."""

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, JsonValue

from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.registry import Entities
from roost.ids import MAX_ID
from roost.web.bodies import Body
from roost.web.checks import Refers
from roost.web.fields import Between, Length, Pattern

NOT_FOUND = "Not found"


class Taggable:
    """How a body names entities to be tagged: of the kind whose plural is the field's name."""

    def __init__(self, field: str) -> None:
        self._field = field

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, str]:
        """A kind that no group has declared has no entities."""
        for kind in context.get(Entities).taggable():
            if self._field == f"{kind.name}s":
                return await labels(context.db, kind, context.account_id, ids)
        return {}


MAX_TAGS = 100
"""Of one entity."""


def _once(labels: list[str]) -> list[str]:
    return list(dict.fromkeys(labels))


Label = Annotated[
    str, Length(3, 50), Pattern(r"[^\x00-\x1f\x7f]*", "Must not contain control characters")
]
Tags = Annotated[
    list[Label],
    Length(0, MAX_TAGS),
    AfterValidator(_once),
    Field(description="Labels of your own choice, a set; for unrestricted users only."),
]
"""The field `tags` of a body that creates or updates something, in the order sent."""

_Id = Annotated[int, Between(1, MAX_ID)]

_Domain = Annotated[_Id, Refers(Taggable("domains"), NOT_FOUND)]

_Compute = Annotated[_Id, Refers(Taggable("computes"), NOT_FOUND)]

_NodeBalancer = Annotated[_Id, Refers(Taggable("nodebalancers"), NOT_FOUND)]

_Volume = Annotated[_Id, Refers(Taggable("volumes"), NOT_FOUND)]

_MANY = Length(0, 500)

_EXAMPLES: list[JsonValue] = [
    {"label": "production"},
    {"label": "shop", "computes": [100001, 100002], "volumes": [100001]},
]


class CreateTag(Body):
    """POST /tags. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    label: Label
    """The tag."""
    domains: Annotated[list[_Domain], _MANY] = []
    """Domains to put it on."""
    computes: Annotated[list[_Compute], _MANY] = []
    """Compute instances to put it on."""
    nodebalancers: Annotated[list[_NodeBalancer], _MANY] = []
    """NodeBalancers to put it on."""
    volumes: Annotated[list[_Volume], _MANY] = []
    """Volumes to put it on."""

    def wanted(self) -> dict[str, list[int]]:
        """The ids of each field that names entities."""
        return {
            "domains": self.domains,
            "computes": self.computes,
            "nodebalancers": self.nodebalancers,
            "volumes": self.volumes,
        }
