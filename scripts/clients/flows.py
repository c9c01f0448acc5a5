"""What the flows of all clients share: one line for each, waiting, and where the server is.

Each client's file runs by itself, with that client installed and the URL of a dialect's listener
and a token in the environment. A flow is a function whose docstring says what it does.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence

URL = os.environ.get("LINODE_URL", "")
TOKEN = os.environ.get("LINODE_TOKEN", "")
REGION, PLAN, IMAGE = "us-lake", "g1-nano-1", "linode/debian12"
PASSWORD = "aComplex@Password-7391"

_SECONDS = 60.0


def until(probe: Callable[[], bool]) -> None:
    """Ask until it is so; TimeoutError after a minute."""
    end = time.monotonic() + _SECONDS
    while not probe():
        if time.monotonic() > end:
            raise TimeoutError(f"not so after {_SECONDS:g} seconds")
        time.sleep(0.1)


def run(flows: Sequence[Callable[[], None]]) -> None:
    """Print `passed` or `failed` with each flow's text; exit code 1 when one failed."""
    failed = False
    for flow in flows:
        text = (flow.__doc__ or flow.__name__).strip().rstrip(".")
        try:
            flow()
        except Exception as error:
            failed = True
            reason = " ".join(str(error).split())[:300]
            print(f"failed\t{text}\t{type(error).__name__}: {reason}", flush=True)
        else:
            print(f"passed\t{text}", flush=True)
    sys.exit(failed)
