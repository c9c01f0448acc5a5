"""The record of a StackScript (reference: StackScript)."""

from typing import NotRequired

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, Id, Sought, Updated


class UserDefinedField(TypedDict):
    """What whoever deploys the script is asked, as a `<UDF …/>` tag of the script says."""

    name: str
    """The environment variable that holds the answer."""
    label: str
    """The question."""
    default: NotRequired[str]
    """The answer of whoever gives none; without it the field must be answered."""
    example: NotRequired[str]
    """What an answer may look like."""
    oneOf: NotRequired[str]
    """The possible answers, with commas."""
    manyOf: NotRequired[str]
    """What may be chosen from, with commas; an answer is some of them, with commas."""


class StackScriptRow(TypedDict):
    """A script that sets up an instance at its first boot."""

    id: Id
    username: str
    """The user who made it."""
    user_gravatar_id: str
    """What gravatar.com knows that user by."""
    label: Folded[str]
    """The name of the script."""
    description: Filtered[str]
    """What it is for."""
    images: list[str]
    """The images that it runs on: their ids, or `any/all`."""
    deployments_total: Filtered[int]
    """How many instances were ever made with it."""
    deployments_active: int
    """How many of those exist."""
    is_public: Filtered[bool]
    """Whether every account can use it; a public one stays so."""
    created: Created
    updated: Updated
    rev_note: Filtered[str]
    """What changed last."""
    script: str
    """The script, with the interpreter in its first line."""
    user_defined_fields: list[UserDefinedField]
    """What whoever deploys it is asked."""
    mine: Sought[bool]
    """Whether it is your account's."""
    ordinal: int
    """Its place among those that the platform recommends; 0 for none."""
    logo_url: str
    """A picture of what it installs; empty for none."""
