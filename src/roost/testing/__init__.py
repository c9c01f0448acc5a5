"""For tests of programs that use a cloud: a server of their own, reset between them.

It runs as a process with simulated engines, so that nothing here needs to know what is in it.
"""

from roost.testing.process import RoostServerError
from roost.testing.server import RoostServer

__all__ = ["RoostServer", "RoostServerError"]
