"""SQL of compute types."""

from dataclasses import replace

from roost.core.lists import listing_of
from roost.resources.compute_types.records import ComputeTypeRow

# In the catalogue's order.
TYPES = listing_of(
    ComputeTypeRow,
    source="compute_type t",
    scope="not t.retired",
    key="t.position",
)
EVERY_TYPE = replace(TYPES, scope="true", key="t.id")
"""With those that the catalogue no longer has: their instances still name them."""
