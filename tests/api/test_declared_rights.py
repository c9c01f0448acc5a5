"""The rights that the specification gives each operation, written down a second time.

test_authorization.py proves that declarations are obeyed; this, that they are the right ones.
"""

import pytest

from roost.app.groups import ENDPOINT_MODULES
from roost.web.grants import Anyone, Global, Grant, Read, Write
from roost.web.registry import Registry

PUBLIC = ((), True, Anyone())
COMPUTE_READ = (("computes:read_only",), False, Read("compute"))
COMPUTE_WRITE = (("computes:read_write",), False, Write("compute"))
EVENTS = (("events:read_only",), False, Read("account"))
IMAGES = (("images:read_only",), True, Anyone())

RIGHTS: dict[str, tuple[tuple[str, ...], bool, Grant]] = {
    "GET /regions": PUBLIC,
    "GET /regions/availability": PUBLIC,
    "GET /regions/{regionId}": PUBLIC,
    "GET /regions/{regionId}/availability": PUBLIC,
    "GET /compute/types": PUBLIC,
    "GET /compute/types/{typeId}": PUBLIC,
    "GET /compute/kernels": PUBLIC,
    "GET /compute/kernels/{kernelId:path}": PUBLIC,
    "GET /images": IMAGES,
    "GET /images/{imageId:path}": IMAGES,
    "GET /account/events": EVENTS,
    "GET /account/events/{eventId:int}": EVENTS,
    "POST /account/events/{eventId:int}/read": EVENTS,
    "POST /account/events/{eventId:int}/seen": EVENTS,
    "GET /compute/instances": COMPUTE_READ,
    "POST /compute/instances": (("computes:read_write",), False, Global("add_computes")),
    "GET /compute/instances/{computeId:int}": COMPUTE_READ,
    "PUT /compute/instances/{computeId:int}": COMPUTE_WRITE,
    "DELETE /compute/instances/{computeId:int}": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/boot": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/reboot": COMPUTE_WRITE,
    "POST /compute/instances/{computeId:int}/shutdown": COMPUTE_WRITE,
}


@pytest.mark.spec("A auth 3", "A auth 6", "B auth 2", "B auth 4", "B compute 1")
def test_rights() -> None:
    declared = {
        f"{e.method} {e.path}": (e.scopes, e.public, e.grant) for e in Registry(ENDPOINT_MODULES)
    }
    missing = sorted(declared.keys() - RIGHTS.keys())
    assert not missing, f"write down what the specification says of {missing}"
    assert declared == RIGHTS
