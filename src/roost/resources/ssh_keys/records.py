"""The SSH key record (reference: SSH key)."""

from typing_extensions import TypedDict


class SshKeyRow(TypedDict):
    """A public key that its user may put into new instances."""

    id: int
    label: str
    ssh_key: str
    created: str
