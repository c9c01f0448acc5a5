"""Libraries for browsers: fetched from the registry that npm is set up to use, and checked."""

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from roost.web.static_files import LIBRARIES, missing_libraries
from tests.support.installation import ROOT

FILE = "src/roost/web/libraries/chart.js"


class Checkout:
    """A tree that pins one library, and a registry that has it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.root, self.served = folder / "tree", folder / "registry"
        (self.root / "scripts").mkdir(parents=True)
        shutil.copy(ROOT / "scripts/libraries.py", self.root / "scripts")
        (folder / ".npmrc").write_text(f"# ours\nregistry=http://127.0.0.1:{port}/npm/\n")
        self.home = folder

    def publish(self, text: str) -> str:
        """Its hash."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            member = tarfile.TarInfo("package/dist/chart.js")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
        path = self.served / "npm/@some/chart/-/chart-1.2.3.tgz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed.getvalue())
        return f"sha512-{base64.b64encode(hashlib.sha512(packed.getvalue()).digest()).decode()}"

    def pin(self, integrity: str) -> None:
        row = {"name": "@some/chart", "version": "1.2.3", "integrity": integrity, "tests": False}
        files = {FILE: "dist/chart.js"}
        (self.root / "libraries.json").write_text(json.dumps([{**row, "files": files}]))

    def fetch(self, *, code: int = 0) -> str:
        kept = {k: v for k, v in os.environ.items() if not k.lower().startswith("npm_config")}
        done = subprocess.run(
            [sys.executable, "scripts/libraries.py"],
            cwd=self.root,
            env={**kept, "HOME": str(self.home), "no_proxy": "127.0.0.1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        return done.stdout


class Registry(SimpleHTTPRequestHandler):
    missing = 0
    """Bytes of each answer that are promised and do not come."""

    def send_header(self, keyword: str, value: str) -> None:
        is_length = keyword == "Content-Length"
        super().send_header(keyword, str(int(value) + self.missing) if is_length else value)


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    (tmp_path / "registry").mkdir()
    handler = partial(Registry, directory=str(tmp_path / "registry"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Checkout(tmp_path, server.server_port)
        server.shutdown()


def test_what_is_pinned_is_fetched_once(checkout: Checkout) -> None:
    checkout.pin(checkout.publish("draw()"))
    assert "fetching for browsers: @some/chart" in checkout.fetch()
    assert (checkout.root / FILE).read_text() == "draw()"
    assert checkout.fetch() == ""
    checkout.pin(checkout.publish("draw(better)"))
    checkout.fetch()
    assert (checkout.root / FILE).read_text() == "draw(better)"


def test_another_archive_than_the_pinned_one_is_refused(checkout: Checkout) -> None:
    checkout.pin(checkout.publish("draw()"))
    checkout.publish("steal()")
    assert "another archive than libraries.json pins" in checkout.fetch(code=1)
    assert not (checkout.root / FILE).exists()


def test_a_registry_that_does_not_have_it_is_named_as_the_reason(checkout: Checkout) -> None:
    checkout.pin("sha512-none")
    assert "@some/chart cannot be had, so its pages lack it: HTTP Error 404" in checkout.fetch(
        code=1
    )


def test_an_archive_that_breaks_off_is_one_that_cannot_be_had(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.pin(checkout.publish("draw()"))
    monkeypatch.setattr(Registry, "missing", 10)
    assert "@some/chart cannot be had, so its pages lack it: Incomplete" in checkout.fetch(code=1)


def test_those_that_are_served_are_those_that_are_pinned() -> None:
    rows = json.loads((ROOT / "libraries.json").read_text())
    served = [Path(file) for row in rows if not row["tests"] for file in row["files"]]
    assert sorted(LIBRARIES) == sorted(p.name for p in served if p.suffix != ".LICENSE")
    assert missing_libraries() == []


def test_the_lock_names_no_address() -> None:
    for row in json.loads((ROOT / "libraries.json").read_text()):
        assert set(row) == {"name", "version", "integrity", "tests", "files"}
        assert row["integrity"].startswith("sha512-")
    assert "://" not in (ROOT / "libraries.json").read_text()
