"""Samples of what the catalogue offers to all."""

from tests.api.samples.sample import Samples, standing

_REGION = standing("us-lake", "nowhere")

SAMPLES = Samples(
    {
        "view_account_availability": _REGION,
        "view_compute_type": standing("g1-nano-1", "none"),
        "view_kernel": standing("roost/grub2", "roost/none"),
        "view_region": _REGION,
    },
    rows={"list_region_availability": _REGION.make},
)
