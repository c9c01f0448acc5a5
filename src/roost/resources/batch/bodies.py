"""Request bodies of batches (Roost's own; docs/batch.md)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, JsonValue

from roost.resources.batch.rules import MOST, known_path, short_filter
from roost.web.bodies import Body
from roost.web.fields import Length

_EXAMPLE: dict[str, JsonValue] = {
    "requests": [
        {"path": "/v4/profile"},
        {"path": "/v4/volumes?page_size=25", "filter": {"label": {"+contains": "data"}}},
    ]
}


class BatchedRequest(Body):
    """A `GET` of its own."""

    path: Annotated[str, Length(2, 2048), AfterValidator(known_path)]
    """The path, with its query: `/v4/compute/instances?page_size=25`."""
    filter: Annotated[dict[str, object], Length(0, 100), AfterValidator(short_filter)] | None = None
    """What the header `X-Filter` would say."""
    if_none_match: Annotated[str, Length(1, 2048)] | None = None
    """What the header `If-None-Match` would say: 304, and no body, for a version that you have."""


class SendBatch(Body):
    """POST /batch."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    requests: Annotated[list[BatchedRequest], Length(1, MOST)]
    """What is asked for."""
