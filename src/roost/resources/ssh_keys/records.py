"""The SSH key record (reference: SSH key)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Folded, Id


class SshKeyRow(TypedDict):
    """A public key that its user may put into new instances."""

    id: Id
    label: Folded[str]
    """The name of the key."""
    ssh_key: str
    """The public key as one line of an authorized_keys file."""
    created: Created
