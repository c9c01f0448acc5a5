"""What an account may have of object storage (docs/catalog.md, Limits)."""

from roost.core.limits.kinds import LimitGroup, LimitKind

STORED = LimitKind("object_storage", "GB in buckets", 5000, "sum(size) / 1000000000")
"""Of all buckets together, when they were counted last."""
BUCKETS = LimitGroup(
    "object_buckets",
    "object_bucket where account_id = $1 and not deleting",
    (LimitKind("object_buckets", "buckets", 100), STORED),
)
KEYS = LimitGroup.of(
    "object_key where account_id = $1 and not deleting",
    LimitKind("object_keys", "object storage keys", 100),
)
