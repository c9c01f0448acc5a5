"""The rules of compute instances as pure functions (spec B compute)."""

import base64
import binascii
import re
from ipaddress import IPv6Address, IPv6Network

from roost.core.catalog.entries import ImageEntry, RegionEntry
from roost.web.fields import refuse

LABEL_PATTERN = r"[A-Za-z0-9](?!.*(?:--|__|\.\.))(?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
LABEL_REASON = (
    "Must begin and end with a letter or number, and hold only letters, numbers, hyphens, "
    "underscores and periods, none of the last three twice in a row"
)
VLAN_LABEL_PATTERN = r"(?!.*--)[A-Za-z0-9-]+"
VLAN_LABEL_REASON = "Must only use ASCII letters, numbers, and dashes, no two dashes in a row"

MAX_USER_DATA = 65535
"""Bytes, decoded (reference: Compute instance create)."""

_MAX_ENCODED = 2 * MAX_USER_DATA
"""Characters of base64, line ends included."""
_BLANKS = str.maketrans("", "", "\r\n\t ")
"""As programs that encode files break lines, of which base64 itself knows nothing."""

_STRENGTH = 2
_SCORED_CHARACTERS = 24
"""The score's cost grows faster than the length, to a third of a second for the longest ones."""


def strong_password(password: str) -> str:
    """Rule 2: the score of zxcvbn, 0 to 4, must be 2 or more."""
    from zxcvbn_rs_py import zxcvbn  # 1 MB of memory: no start waits for it.

    if int(zxcvbn(password[:_SCORED_CHARACTERS]).score) < _STRENGTH:
        raise refuse("Password does not meet strength requirement")
    return password


def check_user_data(text: str) -> str:
    """Rule 3: base64 of at most `MAX_USER_DATA` bytes, in one line or several; empty is none."""
    size = 0 if len(text) > _MAX_ENCODED else len(decode_user_data(text))
    if text and not 1 <= size <= MAX_USER_DATA:
        raise refuse(f"Must be 1-{MAX_USER_DATA} bytes when decoded")
    return text


def decode_user_data(text: str) -> bytes:
    try:
        return base64.b64decode(text.translate(_BLANKS), validate=True)
    except (binascii.Error, ValueError):
        raise refuse("Must be base64-encoded") from None


def user_data_reason(text: str, image: ImageEntry | None, region: RegionEntry | None) -> str | None:
    """Why an instance with this image in this region can do nothing with user data, if so."""
    if image is None or not image.takes_user_data:
        return "user_data needs an image with the cloud-init capability"
    if region is not None and "Metadata" not in region.capabilities:
        return "user_data needs a region with the Metadata capability"
    only_scripts = "cloud-init" not in image.capabilities
    if only_scripts and not decode_user_data(text).startswith(b"#!"):
        return "user_data must be a script that begins with #! for this image"
    return None


def limited(memory: int, limit: int) -> int:
    """MB of memory of a guest, by its plan and its config's limit (0: none)."""
    return min(memory, limit) if limit else memory


def default_label(compute_id: int, unique: str = "") -> str:
    """`compute100001`; with a `unique` text for when that one is taken."""
    return f"compute{compute_id}-{unique}" if unique else f"compute{compute_id}"


def hostname(label: str) -> str:
    """A label as a host name: underscores are not allowed there (RFC 1123)."""
    return re.sub(r"[^A-Za-z0-9.-]", "-", label)


def mac_address(compute_id: int) -> str:
    """Locally administered, unique for ids below 2^40."""
    octets = b"\x52" + compute_id.to_bytes(5, "big")
    return ":".join(f"{octet:02x}" for octet in octets)


def side_mac_address(compute_id: int, number: int) -> str:
    """The MAC address of eth`number` when that is not the public interface."""
    octets = bytes([0x56 + 4 * number]) + compute_id.to_bytes(5, "big")
    return ":".join(f"{octet:02x}" for octet in octets)


def slaac_address(network: IPv6Network, mac: str) -> IPv6Address:
    """What the guest calls itself in a /64: the modified EUI-64 of its MAC (RFC 4291)."""
    octets = bytearray.fromhex(mac.replace(":", ""))
    octets[0] ^= 2
    host = octets[:3] + b"\xff\xfe" + octets[3:]
    return IPv6Address(int(network.network_address) | int.from_bytes(host, "big"))
