"""Records of kernels (reference: Kernel)."""

from typing import Literal

from typing_extensions import TypedDict


class KernelRow(TypedDict):
    id: str
    label: str
    version: str
    kvm: bool
    architecture: Literal["x86_64", "i386"]
    pvops: bool
    deprecated: bool
    built: str
