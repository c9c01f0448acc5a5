"""`roost image`: what is imported is offered at once."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from roost.cli import main
from roost.core.catalog import load
from roost.engines.qemu.images.published import PUBLISHED
from tests.cli.process import Server, ran, roost, wait_until

needs_qemu_img = pytest.mark.skipif(shutil.which("qemu-img") is None, reason="no qemu-img")


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A raw disk of 2 MB with a boot sector."""
    path = tmp_path / "disk.raw"
    path.write_bytes((bytes(510) + b"\x55\xaa").ljust(2 * 1024 * 1024, b"\0"))
    return path


@needs_qemu_img
def test_import_beside_the_catalogue(server: Server, disk: Path) -> None:
    state = ("--state", server.state)
    body = {"type": "g1-nano-1", "region": "us-lake", "root_pass": "correct-Horse7battery"}
    created = server.send("POST", "/compute/instances", body | {"image": "acme/tiny"})
    assert created[0] == 400
    done = roost("image", "import", disk, *state, "--id", "acme/tiny", "--label", "Tiny")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == "acme/tiny: acme/tiny is ready"
    assert ["acme/tiny", "firmware", "nocloud", "2"] in [
        line.split() for line in ran("image", "list", *state).splitlines()
    ]
    row = server.send("GET", "/images/acme/tiny")[1]
    assert (row["label"], row["size"], row["is_public"]) == ("Tiny", 2, True)
    assert row["capabilities"] == ["cloud-init"]

    def accepted() -> bool:
        body["image"] = "acme/tiny"
        return server.send("POST", "/compute/instances", body)[0] == 200

    wait_until(accepted)


@needs_qemu_img
def test_import_of_a_listed_image(server: Server, disk: Path) -> None:
    arguments = ("image", "import", disk, "--state", server.state, "--id", "roost/alpine3.19")
    labelled = roost(*arguments, "--label", "Mine")
    assert labelled.returncode == 2
    assert "the catalogue labels this image" in labelled.stderr
    ran(*arguments)
    row = server.send("GET", "/images/roost/alpine3.19")[1]
    assert (row["label"], row["created_by"]) == ("Alpine 3.19", "roost")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "nothing.raw", "--id", "acme/x"), "nothing.raw is not a file"),
        (("import", "nothing.raw", "--id", "private/x"), "for the images of accounts"),
        (("import", "nothing.raw", "--id", "Nonsense"), "is not an image id"),
        (("import", "nothing.raw", "--id", "a/b", "--label", ""), "must be 1-128 characters"),
        (("import", "nothing.raw", "--id", "a/b", "--checksum", "ab"), "64 or 128 hexadecimal"),
        (("build", "ubuntu22.04"), "cloudimg-amd64.img --id roost/ubuntu22.04"),
        (("build", "alpine3.19"), "cloudinit-r0.qcow2 --id roost/alpine3.19"),
        (("build", "windows"), "'windows' is not one of 'mini', 'debian12'"),
    ],
)
def test_refusals(server: Server, arguments: tuple[str, ...], message: str) -> None:
    done = CliRunner().invoke(main, ["image", *arguments, "--state", str(server.state)])
    assert done.exit_code in (1, 2)
    assert message in done.stderr


def test_what_is_published_is_in_the_catalogue() -> None:
    assert PUBLISHED.keys() <= {image.id for image in load(None).entries.images}
