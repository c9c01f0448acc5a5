"""SQL of compute types."""

from dataclasses import replace

from roost.store.paging import Column, Listing

# In the catalogue's order.
TYPES = Listing(
    record="""
        t.id, t.label, t.class, t.disk, t.memory, t.vcpus, t.gpus, t.network_out, t.transfer,
        t.price, t.region_prices, t.addons, t.successor
        """,
    source="compute_type t",
    scope="not t.retired",
    key="t.position",
    columns={
        "label": Column("t.label", "text", folds=True),
        "class": Column("t.class", "text"),
        "disk": Column("t.disk", "int"),
        "memory": Column("t.memory", "int"),
        "vcpus": Column("t.vcpus", "int"),
        "gpus": Column("t.gpus", "int"),
        "network_out": Column("t.network_out", "int"),
        "transfer": Column("t.transfer", "int"),
    },
)
EVERY_TYPE = replace(TYPES, scope="true", key="t.id")
"""With those that the catalogue no longer has: their instances still name them."""
