"""Whether PowerDNS can run on this host."""

import shutil

from roost.engines.powerdns.accounts import rights_problem
from roost.engines.powerdns.backends import Backend
from roost.engines.powerdns.server import PROGRAM, PROGRAM_PATH

_PACKAGE = "pdns-server"


def check(backend: Backend) -> str | None:
    """The reason why this host cannot run the server, or None."""
    missing = []
    if shutil.which(PROGRAM, path=PROGRAM_PATH) is None:
        missing.append(_PACKAGE)
    if not backend.schema.exists():
        missing.append(backend.package)
    if missing:
        return f"these packages are not installed: {', '.join(missing)}"
    return rights_problem()
