"""What an account may have of addresses (docs/catalog.md, Limits)."""

from roost.core.limits.kinds import LimitGroup, LimitKind

PUBLIC = LimitGroup.of(
    "ip_address where account_id = $1 and public",
    LimitKind("public_ipv4", "public IPv4 addresses", 500),
)
"""Of instances and NodeBalancers."""
