"""SQL of kernels."""

from dataclasses import replace

from roost.core.lists import listing_of
from roost.resources.kernels.records import KernelRow

KERNELS = listing_of(
    KernelRow,
    source="kernel k",
    scope="not k.retired",
    key="k.id",
)
EVERY_KERNEL = replace(KERNELS, scope="true")
"""With those that the catalogue no longer has: configurations still name them."""
