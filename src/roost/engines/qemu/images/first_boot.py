"""A StackScript as one shell script, which every image can run."""

import base64
import shlex
from collections.abc import Mapping

from roost.resources.compute.engine import FirstBootScript

_SCRIPT = "/root/StackScript"
"""What it is called in the guest. One that is there has been begun, perhaps in another guest of
which this one is a copy."""
_LOG = "/var/log/stackscript.log"

_WRAPPER = """\
#!/bin/sh
[ -e {script} ] && exit
umask 077
base64 -d >{script} <<END
{encoded}
END
chmod 700 {script}
sync
{exports}
{script} </dev/null 2>&1 | tee {log} >/dev/console
"""


def wrapped(script: FirstBootScript) -> bytes:
    """Runs it unless it ran before; its output is in a file and on the console."""
    encoded = base64.encodebytes(script.text.encode()).decode().rstrip()
    text = _WRAPPER.format(
        script=_SCRIPT, log=_LOG, encoded=encoded, exports=_exports(script.variables)
    )
    return text.encode()


def _exports(variables: Mapping[str, str]) -> str:
    return "\n".join(f"export {name}={shlex.quote(text)}" for name, text in variables.items())
