"""Request bodies of tags (spec B tags; reference: operations)."""

from typing import Annotated

from pydantic import ConfigDict, JsonValue

from roost.resources.tags.labels import Label
from roost.web.bodies import Body
from roost.web.fields import Between, Length

Ids = Annotated[list[Annotated[int, Between(1, 2**63 - 1)]], Length(0, 500)]

_EXAMPLES: list[JsonValue] = [
    {"label": "production"},
    {"label": "shop", "computes": [100001, 100002], "volumes": [100001]},
]


class CreateTag(Body):
    """POST /tags. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    label: Label
    """The tag."""
    domains: Ids = []
    """Domains to put it on."""
    computes: Ids = []
    """Compute instances to put it on."""
    nodebalancers: Ids = []
    """NodeBalancers to put it on; there are none yet."""
    volumes: Ids = []
    """Volumes to put it on."""

    def wanted(self) -> dict[str, Ids]:
        """The ids of each field that names entities."""
        return {
            "domains": self.domains,
            "computes": self.computes,
            "nodebalancers": self.nodebalancers,
            "volumes": self.volumes,
        }
