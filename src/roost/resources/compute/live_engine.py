"""What two engines tell each other of a guest that moves from host to host while it runs."""

from ipaddress import IPv4Address, IPv6Address
from typing import NewType

from roost.core.engine import EngineError

HostAddress = IPv4Address | IPv6Address

Offer = NewType("Offer", str)
"""How the guest runs, and where the other host fetches its files. It holds a secret: whoever keeps
it has to seal it."""

Destination = NewType("Destination", str)
"""Where the other host takes the guest. It holds a secret, as an offer does."""


class UnfitError(EngineError):
    """This guest cannot go to this host while it runs; powered off, it can."""

    lasting = True
