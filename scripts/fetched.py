"""Python environments with packages that the project does not depend on."""

import os
import subprocess
from pathlib import Path

from suites import say


def python_with(folder: Path, *packages: str) -> Path | None:
    """The Python of a new environment that has them; None, with the reason printed, where they
    cannot be had."""
    python, uv = folder / "bin/python", os.environ.get("UV", "uv")
    install = ("pip", "install", "-q", "--python", str(python), *packages)
    for command in (("venv", "-q", str(folder)), install):
        done = subprocess.run(  # noqa: S603
            [uv, *command], stderr=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            say(f"== {' '.join(packages)} cannot be had:", done.stderr[-300:])
            return None
    return python
