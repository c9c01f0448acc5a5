"""The SDK's own integration tests, as its source distribution has them: areas that Roost has, too.

They name that cloud's regions and plans, so that the server needs a catalogue with these. Those of
instances are left out: they look for states that pass here within the seconds between two looks.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

from flows import TOKEN, URL

AREAS = (
    *("account", "domain", "firewall", "image", "networking", "nodebalancer", "tag", "volume"),
    "vpc",
)
_NOT_FOR_OTHERS = {
    "test_get_login",
    "test_zone_file_view",
    "test_volume_resize",
    "test_volume_clone_and_delete",
}
"""They want a login, that cloud's name servers, or its API at its own address."""
_SECONDS = "120"


def fetched(folder: Path) -> Path:
    """Where the tests of the installed version are."""
    wanted = f"linode-api4=={version('linode-api4')}"
    command = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:")
    subprocess.run([*command, "--dest", folder, wanted], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def tested(place: Path, area: str) -> list[ElementTree.Element]:
    """What became of each test of an area but those that are not meant for another server."""
    report = place / f"{area}.xml"
    chosen = " and ".join(f"not {each}" for each in sorted(_NOT_FOR_OTHERS))
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen)
    subprocess.run(
        [
            *command,
            f"--timeout={_SECONDS}",
            f"--junitxml={report}",
            f"test/integration/models/{area}",
        ],
        cwd=place,
        env={**os.environ, "LINODE_TOKEN": TOKEN, "LINODE_API_URL": f"{URL}/v4beta"},
        stdout=sys.stderr,
    )
    return list(ElementTree.parse(report).iter("testcase"))


def say(area: str, tests: Iterable[ElementTree.Element]) -> str:
    """The line of an area. Skipped tests leave out themselves, or want what no region has."""
    failed, passed = list[str](), 0
    for each in tests:
        found = {child.tag for child in each}
        if found & {"failure", "error"}:
            failed.append(each.get("name", "?"))
        elif "skipped" not in found:
            passed += 1
    text = f"Its own integration tests of {area}"
    return f"failed\t{text}\t{', '.join(failed)}" if failed else f"passed\t{text}: {passed}"


with tempfile.TemporaryDirectory() as directory:
    own = fetched(Path(directory))
    for name in AREAS:
        print(say(name, tested(own, name)), flush=True)
