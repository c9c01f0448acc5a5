"""Request bodies of SSH keys (reference: Profile)."""

from typing import Annotated

from pydantic import ConfigDict

from roost.resources.ssh_keys.rules import PublicKey
from roost.web.bodies import Body
from roost.web.fields import Length

_LABEL = "laptop"
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB me@laptop"

Label = Annotated[str, Length(0, 64)]


class CreateSshKey(Body):
    """POST /profile/sshkeys."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": _LABEL, "ssh_key": _KEY}]})

    label: Label = ""
    """The name of the key."""
    ssh_key: PublicKey
    """The public key as one line of an authorized_keys file: RSA, DSA, ECDSA, Ed25519 or a security
    key's."""


class UpdateSshKey(Body):
    """PUT /profile/sshkeys/{sshKeyId}: the key itself never changes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"label": _LABEL}]})

    label: Label | None = None
    """The new name."""
