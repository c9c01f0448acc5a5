"""What reading an attachment must not do to the process."""

import struct
import subprocess
import sys
from pathlib import Path

_READ = """
import pathlib, sys
from roost.errors import ApiError
from roost.resources.support.attachment_service import FormFile, check_file
try:
    check_file(FormFile("scan.tif", pathlib.Path(sys.argv[1]).read_bytes()))
except ApiError:
    print("refused")
"""


def test_a_crafted_image_fills_no_log(tmp_path: Path) -> None:
    """Each tag claims the whole file, of which the decoder warns."""
    tags = b"".join(struct.pack("<HHII", n, 7, 4_000_000, 8) for n in range(1000, 3000))
    head = b"II*\0" + struct.pack("<IH", 8, 2000)
    file = tmp_path / "scan.tif"
    file.write_bytes((head + tags + b"\0" * 4).ljust(5_000_000, b"x"))
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(file)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")
