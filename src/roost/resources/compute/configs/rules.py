"""The rules of configs as pure functions (reference: Config)."""

from roost.resources.compute.configs.records import Helpers, VirtMode
from roost.resources.compute.engine import SLOTS, Slot

MAX_LABEL = 48

DEFAULT_KERNEL = "roost/latest-64bit"
DEFAULT_ROOT = "/dev/sda"

ROOT_DEVICES = tuple(f"/dev/{slot}" for slot in SLOTS)

NO_SLOT = "A fullvirt config has no devices beyond sdd"
_FULLVIRT_SLOTS = 4


def profile_label(disk_label: str) -> str:
    """The label of the config that boots an image's disk of this label."""
    return f"My {disk_label[: MAX_LABEL - len('My  Profile')]} Profile"


def default_helpers(network: bool) -> Helpers:
    """`network` is the account's setting `network_helper`."""
    return {
        "updatedb_disabled": True,
        "distro": True,
        "modules_dep": True,
        "network": network,
        "devtmpfs_automount": True,
    }


def slots_of(virt_mode: VirtMode) -> tuple[Slot, ...]:
    """Where such a config can have devices."""
    return SLOTS[:_FULLVIRT_SLOTS] if virt_mode == "fullvirt" else SLOTS
