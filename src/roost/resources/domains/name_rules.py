"""Names of zones, records and targets: syntax, and what DNS makes of them.

Names are kept as they were sent. Those with other characters than ASCII are refused with the
ASCII form (IDNA) that is wanted instead, as that is what every other DNS tool shows.
"""

import re
import unicodedata
from functools import cache

import idna
from publicsuffixlist import PublicSuffixList

from roost.web.fields import refuse

MAX_NAME = 253
"""Characters of a whole name without the final period (RFC 1035, 3.1)."""

_LABEL = r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)"
_LABELS = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_RULE = "labels of 1-63 letters, digits, hyphens and underscores, with no hyphen at either end"

HOST_REASON = (
    "Must be the name of a host: labels of 1-63 letters, digits and hyphens, with no hyphen at "
    "either end"
)
NAME_REASON = f"Must be a domain name: {_RULE}"
RECORD_NAME_REASON = f"Must be a name within the domain: {_RULE}"
PUBLIC_REASON = "Must not be a public suffix, below which everybody registers domains"
DOTTED_REASON = "Must have at least two labels, and the last one must not be a number"


def check_domain(text: str) -> str:
    """The name of a zone (spec B domain name)."""
    if not 1 <= len(text) <= MAX_NAME:
        raise refuse(f"Length must be 1-{MAX_NAME} characters")
    _check_labels(text, NAME_REASON)
    if not is_dotted(text):
        raise refuse(DOTTED_REASON)
    if public_suffixes().is_public(text.lower()):
        raise refuse(PUBLIC_REASON)
    return text


def is_dotted(name: str) -> bool:
    """Whether a name has two labels or more, the last one not a number."""
    last = name.rpartition(".")
    return bool(last[1]) and not last[2].isdigit()


def check_record_name(text: str, wildcard: bool = True) -> str:
    """A name that a record is to have; "" and "@" are the zone itself."""
    bare = text.removesuffix(".")
    if text in ("", "@"):
        return text
    if bare == "*" or bare.startswith("*."):
        if not wildcard:
            raise refuse("Must not be a wildcard")
        bare = bare[2:]
        if not bare:
            return text
    _check_labels(bare, RECORD_NAME_REASON)
    return text


def check_target(text: str) -> str:
    """A whole domain name, with or without the final period."""
    bare = text.removesuffix(".")
    if len(bare) > MAX_NAME:
        raise refuse(f"Must have at most {MAX_NAME} characters")
    _check_labels(bare, NAME_REASON)
    return text


def check_dotted(text: str) -> str:
    """A whole domain name that is no IPv4 address and no single label."""
    check_target(text)
    if not is_dotted(text.removesuffix(".")):
        raise refuse(DOTTED_REASON)
    return text


def check_host(text: str) -> str:
    """The name of a host, which has no underscores (RFC 1123, 2.1)."""
    check_dotted(text)
    return check_no_underscores(text)


def check_no_underscores(text: str) -> str:
    if "_" in text:
        raise refuse(HOST_REASON)
    return text


def relative(name: str, zone: str) -> str:
    """A record's name without the zone's; raises where it lies outside or is too long."""
    bare, absolute = name.removesuffix("."), name.endswith(".")
    if bare == "@":
        return ""
    folded, suffix = bare.lower(), zone.lower()
    if folded == suffix:
        return ""
    if folded.endswith(f".{suffix}"):
        bare = bare[: -len(suffix) - 1]
    elif absolute:
        raise refuse("Must lie within the domain")
    if len(bare) + 1 + len(suffix) > MAX_NAME:
        raise refuse(f"Must have at most {MAX_NAME} characters together with the domain")
    return bare


def absolute(owner: str, zone: str) -> str:
    """The name that DNS knows a record by, in lower case; `owner` is below the zone."""
    return f"{owner}.{zone}.".lower() if owner else f"{zone}.".lower()


def ancestors(zone: str) -> list[str]:
    """Names that a zone lies within, the nearest first, without the top-level one."""
    labels = zone.split(".")
    return [".".join(labels[cut:]) for cut in range(1, len(labels) - 1)]


def _check_labels(text: str, reason: str) -> None:
    """Check the labels of a text that is hardly longer than a name can be."""
    if _LABELS.fullmatch(text):
        return
    suggested = _ascii_form(text)
    if suggested is not None:
        raise refuse(f"Must be in its ASCII form: {suggested}")
    raise refuse(reason)


def _ascii_form(text: str) -> str | None:
    """The A-labels of an international name; None when it is no such name.

    Other characters that mean the same, such as those of full width, are not mapped: the table of
    UTS 46 takes 17 MB, and 40 ms at its first use.
    """
    if text.isascii():
        return None
    try:
        return idna.encode(unicodedata.normalize("NFC", text.lower())).decode()
    except idna.IDNAError:
        return None


@cache
def public_suffixes() -> PublicSuffixList:
    """Without those that companies let others register below: these are domains like any.

    The first call reads thousands of them: a server makes it when it starts.
    """
    return PublicSuffixList(only_icann=True)
