"""Request bodies of tickets (spec A support)."""

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, ValidationInfo, field_validator

from roost.core.access import require_all
from roost.core.context import Context
from roost.core.entities.queries import labels
from roost.core.entities.records import Entity
from roost.core.entities.registry import Entities
from roost.ids import MAX_ID
from roost.resources.support import rules
from roost.web.bodies import Body
from roost.web.checks import Refers, RegionId
from roost.web.fields import Length, refuse


class About:
    """An entity that a field of a ticket names; none of a kind that no group has declared."""

    def __init__(self, field: str) -> None:
        self._field = field

    async def find(self, context: Context, ids: Collection[int]) -> Mapping[int, Entity]:
        """403 for a restricted user who may not see one, whether it exists or not."""
        kind = context.get(Entities).ticketed(self._field)
        ids = [each for each in ids if 0 < each <= MAX_ID]
        if kind is None or not ids:
            return {}
        if kind.grantable:
            await require_all(context, kind.name, ids, "read_only")
        found = await labels(context.db, kind, context.account_id, ids)
        return {each: kind.entity(each, label) for each, label in found.items()}


_EXAMPLES: list[JsonValue] = [
    {"summary": "No connection", "description": "Since this morning nothing answers.\nWhat now?"},
    {"summary": "A slow disk", "description": "Reads take seconds.", "compute_id": 123456},
    {
        "summary": "A lost frame",
        "description": "Some frames do not arrive.",
        "vlan": "back-office",
        "region": "us-lake",
    },
]

ENTITY_FIELDS = (
    "database_id",
    "domain_id",
    "firewall_id",
    "compute_id",
    "lkecluster_id",
    "longviewclient_id",
    "nodebalancer_id",
    "volume_id",
    "vpc_id",
)

Summary = Annotated[str, Length(1, 64)]
Description = Annotated[str, Length(1, 65000)]
Reply = Annotated[str, Length(1, 65535)]


class OpenTicket(Body):
    """POST /support/tickets. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    summary: Summary
    """The title."""
    description: Description
    """What you ask, as Markdown."""
    database_id: Annotated[int, Refers(About("database_id"))] | None = None
    """The database that it is about."""
    domain_id: Annotated[int, Refers(About("domain_id"))] | None = None
    """The domain that it is about."""
    firewall_id: Annotated[int, Refers(About("firewall_id"))] | None = None
    """The firewall that it is about."""
    compute_id: Annotated[int, Refers(About("compute_id"))] | None = None
    """The compute instance that it is about."""
    lkecluster_id: Annotated[int, Refers(About("lkecluster_id"))] | None = None
    """The Kubernetes cluster that it is about."""
    longviewclient_id: Annotated[int, Refers(About("longviewclient_id"))] | None = None
    """The Longview client that it is about."""
    nodebalancer_id: Annotated[int, Refers(About("nodebalancer_id"))] | None = None
    """The NodeBalancer that it is about."""
    volume_id: Annotated[int, Refers(About("volume_id"))] | None = None
    """The volume that it is about."""
    vpc_id: Annotated[int, Refers(About("vpc_id"))] | None = None
    """The VPC that it is about."""
    managed_issue: bool = False
    """Whether it is about the managed service, which the account must have."""
    vlan: Annotated[str, Length(1, 64)] | None = None
    """The VLAN that it is about, with its region."""
    region: Annotated[RegionId | None, Field(validate_default=True)] = None
    """The region of the VLAN; with a VLAN only."""

    def about(self) -> tuple[str, int] | None:
        """The field that names what the ticket is about, and its value."""
        given = ((name, getattr(self, name)) for name in ENTITY_FIELDS)
        return next(((name, value) for name, value in given if value is not None), None)

    def about_vlan(self) -> tuple[str, str] | None:
        return None if self.vlan is None or self.region is None else (self.vlan, self.region)

    @field_validator(*ENTITY_FIELDS, "vlan", mode="before")
    @classmethod
    def _check_alone(cls, value: object, info: ValidationInfo) -> object:
        if value is not None and _names_an_entity(info):
            raise refuse(rules.ONE_ENTITY)
        return value

    @field_validator("managed_issue")
    @classmethod
    def _check_managed(cls, value: bool, info: ValidationInfo) -> bool:
        if value and _names_an_entity(info):
            raise refuse(rules.ONE_ENTITY)
        return value

    @field_validator("region")
    @classmethod
    def _check_region(cls, value: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("vlan") is not None and value is None:
            raise refuse("region is required")
        if value is not None and info.data.get("vlan", "wrong") is None:
            raise refuse(rules.NOT_A_VLAN)
        return value


def _names_an_entity(info: ValidationInfo) -> bool:
    """Whether a field before this one does."""
    return any(info.data.get(name) is not None for name in ENTITY_FIELDS)


class ReplyToTicket(Body):
    """POST /support/tickets/{ticketId}/replies."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"description": "It works again, thank you."}]}
    )

    description: Reply
    """The reply, as Markdown."""
