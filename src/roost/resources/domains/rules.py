"""The rules of domains as pure functions (spec B domains, B domain records)."""

from bisect import bisect_left
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from roost.web.fields import MAPPED, refuse

MAX_RECORDS = 12_000
MAX_ZONE_FILE = 1024 * 1024
"""Characters; the setting for bodies may allow less."""
MAX_FOUND = MAX_RECORDS * 4
"""A signed zone has several records of signing for each that is kept."""
MAX_BYTES = 4 * 2**20
"""Of the targets of a domain's records, in UTF-8."""
MAX_IMPORTS = 3
"""Of an account, at the same time."""
MAX_ADDRESSES = 1000
"""Characters of a list of addresses, all together."""

FULL = f"A domain holds at most {MAX_RECORDS} records"
TOO_LARGE = f"The targets of a domain's records have at most {MAX_BYTES >> 20} MiB together"

DOMAIN_SECONDS = (
    *(0, 30, 120, 300, 3600, 7200, 14400, 28800, 57600, 86400),
    *(172800, 345600, 604800, 1209600, 2419200),
)
RECORD_SECONDS = tuple(seconds for seconds in DOMAIN_SECONDS if seconds >= 300)

DEFAULT_REFRESH = 14400
DEFAULT_RETRY = 14400
DEFAULT_EXPIRE = 1209600
DEFAULT_TTL = 86400
MAX_NEGATIVE = 3600
"""Seconds for which resolvers may remember at most that a name does not exist."""

UNSIGNED_JUMP = 1 << 16
"""A signed zone is served with a serial some thousands ahead of its own (the weeks since 1970);
one that is no longer signed has to be ahead of that."""

_PRIVATE = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "224.0.0.0/3"),
        *("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"),
        *("fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
)


def is_private(address: str) -> bool:
    """Loopback, private, link-local, multicast, and what only wraps an IPv4 address."""
    return any(ip_address(address) in network for network in _PRIVATE)


def round_up(seconds: int) -> int:
    """Times of a domain: the next valid value, or the largest (spec B domain seconds)."""
    _check_seconds(seconds)
    at = bisect_left(DOMAIN_SECONDS, seconds)
    return DOMAIN_SECONDS[min(at, len(DOMAIN_SECONDS) - 1)]


@lru_cache(maxsize=1024)
def round_nearest(seconds: int) -> int:
    """The time of a record: the nearest valid value, the larger of two; 0 is the default."""
    _check_seconds(seconds)
    if seconds == 0:
        return 0
    return min(RECORD_SECONDS, key=lambda valid: (abs(valid - seconds), -valid))


def _check_seconds(seconds: int) -> None:
    if seconds < 0:
        raise refuse(f"Must be 0-{DOMAIN_SECONDS[-1]}")


def check_addresses(addresses: list[str]) -> list[str]:
    """Check addresses of other name servers: IP addresses with at most MAX_ADDRESSES characters
    together."""
    for address in addresses:
        try:
            parsed = ip_address(address)
        except ValueError:
            raise refuse("Each must be an IP address") from None
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
            raise refuse(MAPPED)
        if "%" in address:
            raise refuse("Each must be an IP address without a zone")
    if sum(map(len, addresses)) > MAX_ADDRESSES:
        raise refuse(f"Length must be at most {MAX_ADDRESSES} characters together")
    return addresses


def next_serial(before: int, now: datetime) -> int:
    """Grows with every change; seconds since 1970 where the zone did not come with a larger one.

    So a zone that is made anew is ahead of what secondaries remember of it.
    """
    # RFC 1982: after the largest 32-bit number comes 1, as some servers mistrust 0.
    return max(before + 1, int(now.replace(tzinfo=UTC).timestamp())) % 2**32 or 1
