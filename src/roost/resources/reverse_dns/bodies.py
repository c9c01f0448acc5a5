"""Request bodies of addresses (reference: operations, Networking)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from roost.resources.domains.name_rules import MAX_NAME, check_host
from roost.web.bodies import Body
from roost.web.fields import ShortText, refuse

INVALID = "Domain is not valid."


def check_name(name: str) -> str:
    """A whole domain name."""
    try:
        check_host(name)
    except ValueError:
        raise refuse(INVALID) from None
    if len(name.removesuffix(".")) > MAX_NAME:
        raise refuse(INVALID)
    return name


class UpdateAddress(Body):
    """PUT /networking/ips/{address}; null restores the default."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"rdns": "www.example.com"}, {"rdns": None}]}
    )

    rdns: (
        Annotated[
            ShortText,
            AfterValidator(check_name),
            Field(json_schema_extra={"minLength": 1, "maxLength": MAX_NAME + 1}),
        ]
        | None
    )
    """The name, which must already lead to this address; null restores the default."""
