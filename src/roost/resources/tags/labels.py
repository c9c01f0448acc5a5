"""Tags as fields of other records; every group whose entities have tags uses these."""

from typing import Annotated

from roost.errors import forbidden
from roost.web.call import Call
from roost.web.fields import Length

Label = Annotated[str, Length(3, 50)]
Tags = list[Label]
"""The field `tags` of a body that creates or updates something."""


def check_tags(call: Call, tags: Tags | None) -> None:
    """Raises 403: tags need an unrestricted user (spec B, Tags; Compute instances rule 1)."""
    if tags and call.identity.restricted:
        raise forbidden()
