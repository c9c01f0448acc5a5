"""Request bodies of phone numbers (reference: Profile)."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, ValidationInfo, field_validator

from roost.resources.account.rules import country_problem
from roost.web.bodies import Body
from roost.web.fields import Length, Pattern, refuse


def _country(code: str) -> str:
    problem = country_problem(code)
    if problem is not None or not code:
        raise refuse("Must be a two-letter ISO 3166 country code")
    return code


class SendCode(Body):
    """POST /profile/phone-number."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"iso_code": "US", "phone_number": "215-555-0142"}]}
    )

    iso_code: Annotated[str, Length(0, 2), AfterValidator(_country)]
    """The country of the number, two capital letters of ISO 3166."""
    phone_number: Annotated[str, Length(3, 32)]
    """The number as people of that country write it."""

    @field_validator("phone_number")
    @classmethod
    def _check_number(cls, value: str, info: ValidationInfo) -> str:
        if "iso_code" in info.data and _parse(value, info.data["iso_code"]) is None:
            raise refuse("phone_number is not valid")
        return value

    @property
    def number(self) -> str:
        """As in E.164."""
        number = _parse(self.phone_number, self.iso_code)
        assert number is not None
        return number


class VerifyCode(Body):
    """POST /profile/phone-number/verify."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"otp_code": "123456"}]})

    otp_code: Annotated[str, Length(0, 6), Pattern(r"[0-9]{6}", "Must be 6 digits")]
    """The six digits that were sent."""


def _parse(text: str, country: str) -> str | None:
    """The number as in E.164; None when no number of the country can be such."""
    # Seldom needed, and slow to load.
    import phonenumbers

    try:
        number = phonenumbers.parse(text, country)
    except phonenumbers.NumberParseException:
        return None
    known = phonenumbers.country_code_for_region(country) == number.country_code
    if number.extension or not known or not phonenumbers.is_possible_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
