"""Records of kernels (reference: Kernel)."""

from typing import Literal

from typing_extensions import TypedDict

from roost.core.formats import Filtered, Folded, Timestamp


class KernelRow(TypedDict):
    """A kernel that a config can name."""

    id: str
    """The name that configs use, with a slash in it."""
    label: Folded[str]
    """The name for people."""
    version: Filtered[str]
    """The kernel's own version; empty where the disk chooses."""
    kvm: Filtered[bool]
    """Whether it runs on KVM."""
    architecture: Filtered[Literal["x86_64", "i386"]]
    """The processor that it is for."""
    pvops: Filtered[bool]
    """Whether it knows paravirtual devices."""
    deprecated: Filtered[bool]
    """Whether it is no longer cared for."""
    built: Timestamp
    """When it was built (UTC)."""
