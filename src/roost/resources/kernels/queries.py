"""SQL of kernels."""

from dataclasses import replace

from roost.store.paging import Column, Listing

KERNELS = Listing(
    record="""
        k.id, k.label, k.version, k.kvm, k.architecture, k.pvops, k.deprecated, k.built
        """,
    source="kernel k",
    scope="not k.retired",
    key="k.id",
    columns={
        "label": Column("k.label", "text", folds=True),
        "version": Column("k.version", "text"),
        "kvm": Column("k.kvm", "bool"),
        "architecture": Column("k.architecture", "text"),
        "pvops": Column("k.pvops", "bool"),
        "deprecated": Column("k.deprecated", "bool"),
    },
)
EVERY_KERNEL = replace(KERNELS, scope="true")
"""With those that the catalogue no longer has: configurations still name them."""
