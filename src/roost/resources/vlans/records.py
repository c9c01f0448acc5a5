"""The record of a VLAN (reference: VLAN)."""

from typing_extensions import TypedDict

from roost.core.formats import Created, Filtered, Folded, example


@example(
    {
        "label": "back-office",
        "region": "us-lake",
        "computes": [100001, 100002],
        "created": "2030-01-31T12:00:00",
    },
)
class VlanRow(TypedDict):
    """A VLAN. It is made with the first interface to it, and goes with the last one."""

    label: Folded[str]
    """Its name, by which interfaces are put in it."""
    region: Filtered[str]
    """The region that it is in; the same label in another region is another VLAN."""
    computes: list[int]
    """The instances with an interface to it in any of their configs."""
    created: Created
