"""Request bodies of webhooks."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, JsonValue

from roost.resources.webhooks import rules
from roost.web.bodies import Body
from roost.web.fields import Between, Length, refuse


def _check_url(url: str) -> str:
    if (problem := rules.url_problem(url)) is not None:
        raise refuse(problem)
    return url


Label = Annotated[str, Length(1, 64)]
_URI = Field(json_schema_extra={"format": "uri"})
Url = Annotated[str, Length(1, 2048), AfterValidator(_check_url), _URI]
Revision = Annotated[str, Length(1, 32)]
Names = Annotated[list[Annotated[str, Length(1, 64)]], Length(0, 100)]

_EXAMPLE: dict[str, JsonValue] = {
    "label": "deploys",
    "url": "https://hooks.example.com/roost",
    "actions": ["compute_create", "compute_delete"],
}


class CreateWebhook(Body):
    """POST /account/webhooks. The order of the fields is the order of their errors."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    label: Label
    """A name of your own choice."""
    url: Url
    """Where messages go: `https://`, at an address that the whole Internet reaches."""
    actions: Names = []
    """The actions of the events that it is told of, such as `compute_create`; all when empty."""
    entity_types: Names = []
    """The types of things that the events are about, such as `volume`; all when empty."""
    revision: Revision | None = None
    """The revision of the API that its events are in; omitted for that of this request."""


class UpdateWebhook(Body):
    """PUT /account/webhooks/{webhookId}; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"enabled": True}]})

    label: Label | None = None
    """The new name."""
    url: Url | None = None
    """Where messages go from now on."""
    actions: Names | None = None
    """The actions of the events that it is told of, in place of all that it names."""
    entity_types: Names | None = None
    """The types of things, in place of all that it names."""
    revision: Revision | None = None
    """The revision of the API that its events are in from now on."""
    enabled: bool | None = None
    """False stops messages; with true they go on where they stopped, and at once."""


class ReplayWebhook(Body):
    """POST /account/webhooks/{webhookId}/replay."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"event_id": 100012}]})

    event_id: Annotated[int, Between(1, 2**63 - 1)]
    """The first event that is told once more, and all after it."""
