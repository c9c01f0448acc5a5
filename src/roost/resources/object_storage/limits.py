"""What an account may have of object storage (docs/catalog.md, Limits)."""

from roost.core.limits.kinds import LimitGroup, LimitKind

BUCKETS = LimitGroup.of(
    "object_bucket where account_id = $1 and not deleting",
    LimitKind("object_buckets", "buckets", 100),
)
KEYS = LimitGroup.of(
    "object_key where account_id = $1 and not deleting",
    LimitKind("object_keys", "object storage keys", 100),
)
