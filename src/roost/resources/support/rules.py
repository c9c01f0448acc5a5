"""Rules of tickets (spec A support) with their refusals."""

import re

ONE_ENTITY = "A ticket can be about one entity only"
NOT_MANAGED = "This account does not have the managed service"
NOT_A_VLAN = "Must only be given with a VLAN"
CLOSED = "This ticket is closed."
NOT_CLOSABLE = "This ticket can only be closed by support."

MAX_FILE = 5 * 1024 * 1024
"""Bytes of an attachment."""
MAX_FILES = 100
"""Attachments of a ticket."""
NO_ROOM = "The attachments of this account have reached their limit. Please ask support."
TOO_MANY_FILES = f"A ticket can have {MAX_FILES} attachments at most."

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def has_control_characters(text: str) -> bool:
    return _CONTROL.search(text) is not None
