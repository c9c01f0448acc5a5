"""The SSH key record (reference: SSH key)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Folded, Id, example


@example(
    {
        "id": 100001,
        "label": "laptop",
        "ssh_key": (
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtQ0Qb0bB1m0p6v3dQnJmGQ7oZl0o4sJZt5q3m9x1aB"
            " me@laptop"
        ),
        "created": "2030-01-31T12:00:00",
    },
)
class SshKeyRow(TypedDict):
    """A public key that its user may put into new instances."""

    id: Id
    label: Folded[str]
    """The name of the key."""
    ssh_key: str
    """The public key as one line of an authorized_keys file."""
    created: Created
