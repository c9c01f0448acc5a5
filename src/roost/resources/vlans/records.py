"""The record of a VLAN (reference: VLAN)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded


class VlanRow(TypedDict):
    """A VLAN. It is made with the first interface to it, and goes with the last one."""

    label: Folded[str]
    """Its name, by which interfaces are put in it."""
    region: Filtered[str]
    """The region that it is in; the same label in another region is another VLAN."""
    computes: list[int]
    """The instances with an interface to it in any of their configs."""
    created: Created
