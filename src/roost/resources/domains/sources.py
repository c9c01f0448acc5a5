"""A record as a zone file or another name server has it."""

from dataclasses import dataclass
from typing import Any

import dns.rdatatype


@dataclass(slots=True)
class Source:
    """Not frozen, as that would take longer than all else that is done with it."""

    name: str
    """Absolute, as zone files quote it, without the final period."""
    type: str
    ttl: int
    data: Any
    """Of A and AAAA the address, of others dnspython's rdata."""
    line: int | None = None

    @classmethod
    def of(cls, name: Any, ttl: int, rdata: Any, line: int | None = None) -> "Source":
        """From what dnspython has read."""
        kind = dns.rdatatype.to_text(rdata.rdtype)
        data = rdata.address if kind in ("A", "AAAA") else rdata
        return cls(name.to_text(omit_final_dot=True), kind, ttl, data, line)
