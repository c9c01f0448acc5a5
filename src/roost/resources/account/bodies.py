"""Request bodies of the account (spec B account)."""

from typing import Annotated

from pydantic import ConfigDict, ValidationInfo, field_validator

from roost.resources.account import rules
from roost.web.bodies import Body
from roost.web.fields import EMAIL_PATTERN, EMAIL_REASON, Length, Pattern, ShortText, refuse

_NAME = Pattern(rules.NAME_PATTERN, rules.NAME_REASON)
_MAYBE_EMAIL = Pattern(f"(?:{EMAIL_PATTERN})?", EMAIL_REASON)


class UpdateAccount(Body):
    """PUT /account; what is omitted stays as it is, an empty string takes a value away."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "address_1": "24 Hill Road",
                    "address_2": "Suite 101",
                    "city": "Philadelphia",
                    "company": "Heron Works",
                    "country": "US",
                    "email": "billing@example.com",
                    "first_name": "Ada",
                    "last_name": "Heron",
                    "phone": "215-555-0142",
                    "state": "PA",
                    "tax_id": "",
                    "zip": "19102-1234",
                },
                {"email": "accounts@example.com"},
            ]
        }
    )

    address_1: Annotated[str, Length(0, 64)] | None = None
    """The first line of the address."""
    address_2: Annotated[str, Length(0, 64)] | None = None
    """The second line of the address."""
    city: Annotated[str, Length(0, 24)] | None = None
    """The city."""
    company: Annotated[str, Length(0, 128), _NAME] | None = None
    """The name of the company, without any of `<>()="`."""
    country: ShortText | None = None
    """Two letters of ISO 3166; `US` needs a zip of the USA."""
    email: Annotated[str, Length(0, 128), _MAYBE_EMAIL] | None = None
    """Where mail about the account goes."""
    first_name: Annotated[str, Length(0, 50), _NAME] | None = None
    """The first name of the contact, without any of `<>()="`."""
    last_name: Annotated[str, Length(0, 50), _NAME] | None = None
    """The last name of the contact, without any of `<>()="`."""
    phone: Annotated[str, Length(0, 32)] | None = None
    """The contact's phone number."""
    state: Annotated[str, Length(0, 24)] | None = None
    """The state or province; two letters in the USA (AA, AE and AP for the military) and Canada."""
    tax_id: Annotated[str, Length(0, 25)] | None = None
    """The tax number; empty where there is none."""
    zip: Annotated[str, Length(0, 32), Pattern(rules.ZIP_PATTERN, rules.ZIP_REASON)] | None = None
    """The postal code: at most 9 letters and digits, with hyphens between them."""

    @field_validator("country")
    @classmethod
    def _check_country(cls, value: str | None) -> str | None:
        _refuse(rules.country_problem(value or ""))
        return value

    @field_validator("state")
    @classmethod
    def _check_state(cls, value: str | None, info: ValidationInfo) -> str | None:
        _refuse(rules.state_problem(info.data.get("country") or "", value or ""))
        return value

    @field_validator("zip")
    @classmethod
    def _check_zip(cls, value: str | None, info: ValidationInfo) -> str | None:
        _refuse(rules.zip_problem(info.data.get("country") or "", value or ""))
        return value


class UpdateSettings(Body):
    """PUT /account/settings; what is omitted stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"network_helper": False}]})

    backups_enabled: bool | None = None
    """Whether every new instance has backups."""
    network_helper: bool | None = None
    """Whether new configs have the network helper."""


def _refuse(reason: str | None) -> None:
    if reason is not None:
        raise refuse(reason)
