"""Roost as a wheel of this tree, installed apart from it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _uv() -> str:
    """The one that runs the tests, or one that is installed."""
    found = os.environ.get("UV") or shutil.which("uv")
    return found or str(ROOT / ".boot/bin/uv")


def _run(*command: str | Path, **environment: str | Path) -> None:
    variables = {name: str(value) for name, value in environment.items()}
    done = subprocess.run(
        [_uv(), *command],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def build_wheel(folder: Path) -> Path:
    _run("build", "--quiet", "--wheel", "--out-dir", folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """The command of an environment that has the wheel, what it depends on, and nothing else.

    The versions are the locked ones, which setting up for the tests has fetched already.
    """
    locked = ("--quiet", "--locked", "--no-dev", "--no-install-project")
    _run("sync", *locked, "--python", sys.executable, UV_PROJECT_ENVIRONMENT=folder)
    python = folder / "bin/python"
    _run("pip", "install", "--quiet", "--offline", "--no-deps", "--python", python, wheel)
    return folder / "bin/roost"
