#!/usr/bin/env python3
"""Fetch the libraries for browsers that `libraries.json` pins; with --tests, those of the tests.

They are plain archives of the registry that npm is set up to use, checked against their hashes:
neither npm nor Node.js is needed. Without them Roost works, but pages that need one say so; this
ends with 1 then, so that nothing is released without them.
"""

import base64
import hashlib
import io
import json
import os
import ssl
import sys
import tarfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "libraries.json"
FETCHED = ROOT / ".boot/libraries.json"
"""Which hash is on disk of each library."""
PUBLIC = "https://registry.npmjs.org/"
"""npm's own default."""
MACHINE = tuple(Path(folder, "npmrc") for folder in ("/etc", "/usr/etc", "/usr/local/etc"))
TIMEOUT_SECONDS = 20
Library = dict[str, Any]


def main() -> bool:
    """Whether all of them are there."""
    tests = "--tests" in sys.argv[1:]
    fetched = json.loads(FETCHED.read_text()) if FETCHED.exists() else {}
    wanted = [library for library in json.loads(LOCK.read_text()) if tests or not library["tests"]]
    missing = [library for library in wanted if not is_there(library, fetched)]
    if not missing:
        return True
    say(f"fetching for browsers: {' '.join(library['name'] for library in missing)}")
    with ThreadPoolExecutor() as pool:
        for library, reason in zip(missing, pool.map(fetch, missing), strict=True):
            if reason is None:
                fetched[library["name"]] = library["integrity"]
            else:
                say(f"{library['name']} cannot be had, so its pages lack it: {reason}")
    write(FETCHED, json.dumps(fetched, indent=1).encode())
    return all(is_there(library, fetched) for library in wanted)


def is_there(library: Library, fetched: dict[str, str]) -> bool:
    held = fetched.get(library["name"]) == library["integrity"]
    return held and all((ROOT / target).exists() for target in library["files"])


def fetch(library: Library) -> str | None:
    """Put the library's files where they belong; why that cannot be, if it cannot."""
    try:
        archive = download(library["name"], library["version"])
        if integrity(archive) != library["integrity"]:
            return "the registry has another archive than libraries.json pins"
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            packed = {name.partition("/")[2]: name for name in members.getnames()}
            for target, source in library["files"].items():
                content = members.extractfile(packed[source])
                assert content is not None
                write(ROOT / target, content.read())
    except (OSError, HTTPException, tarfile.TarError) as error:
        return str(error)
    return None


def download(name: str, version: str) -> bytes:
    settings = npm_settings()
    scope, _, base = name.rpartition("/")
    registry = settings.get(f"{scope}:registry") or settings.get("registry") or PUBLIC
    url = f"{registry.rstrip('/')}/{name}/-/{base}-{version}.tgz"
    if not url.startswith(("https://", "http://")):
        raise OSError(f"npm's setting of the registry is no address: {registry}")
    trust = ssl.create_default_context(cafile=settings.get("cafile"))
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS, context=trust) as answer:  # noqa: S310
        content: bytes = answer.read()
    return content


def npm_settings() -> dict[str, str]:
    """What decides first: the environment, then the user's file, then the machine's."""
    prefix = "npm_config_"
    names = {name.lower(): value for name, value in os.environ.items() if value}
    given = {k.removeprefix(prefix): v for k, v in names.items() if k.startswith(prefix)}
    user = Path(given.get("userconfig") or Path.home() / ".npmrc")
    found: dict[str, str] = {}
    for file in (*MACHINE, user):
        if file.is_file():
            lines = (line.strip().partition("=") for line in file.read_text().splitlines())
            found |= {
                key.strip(): os.path.expandvars(value.strip().strip("\"'"))
                for key, equals, value in lines
                if equals and not key.startswith(("#", ";", "//"))
            }
    return found | given


def integrity(content: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_bytes(content)
    draft.replace(path)


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(not main())
