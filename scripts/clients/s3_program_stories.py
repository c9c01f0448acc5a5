"""Programs that keep folders in a bucket: each sends a tree, changes it, and has it back.

The argument is the program's name.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from flows import run
from s3_stories import BUCKET, FILES, HOST, KEY, LONG, PART, SECRET, URL, body, large

PROGRAM = sys.argv[1]
PLACE = Path(tempfile.mkdtemp(prefix=f"{PROGRAM}-", dir=os.environ.get("S3_FOLDER")))
TREE = PLACE / "tree"
ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "HOME": str(PLACE),
    "LC_ALL": "C.UTF-8",
    "AWS_ACCESS_KEY_ID": KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_DEFAULT_REGION": "us-east-1",
}
_SECONDS, _AGO_SECONDS = 120, 10
CHANGED, REMOVED, ADDED = "a/1", "a b.txt", "b/new"


def do(*arguments: str | Path, **more: str) -> str:
    """What the program prints."""
    done = subprocess.run(
        [shutil.which(PROGRAM, path=ENVIRONMENT["PATH"]) or PROGRAM, *arguments],
        cwd=PLACE,
        env=ENVIRONMENT | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, arguments[:3]))}: {done.stdout[-300:]}")
    return done.stdout


def plant() -> None:
    for name in FILES:
        write(name, body(name))
    write("large", large())


def write(name: str, data: bytes) -> None:
    """Some time ago: S3 tells of whole seconds, so that what is sent within its first one looks
    older than the file, which `aws` then sends again."""
    path, then = TREE / name, time.time() - _AGO_SECONDS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (then, then))


def change() -> None:
    """One file of another size, one less, one more."""
    write(CHANGED, body(CHANGED, 1))
    (TREE / REMOVED).unlink()
    write(ADDED, body(ADDED))


def same(other: Path) -> None:
    """Whether a folder holds the same files with the same bytes."""
    assert held(other) == held(TREE), sorted(held(other).items() ^ held(TREE).items())[:4]


def held(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def lines(text: str, *words: str) -> list[str]:
    """Those that tell of something sent or deleted."""
    return sorted(line for line in text.splitlines() if any(word in line for word in words))


def aws() -> None:
    """sync --delete there five times, and back"""
    do("configure", "set", "default.s3.multipart_threshold", str(PART))
    do("configure", "set", "default.s3.multipart_chunksize", str(PART))
    there = ("s3", "--endpoint-url", URL, "sync", "--delete", "--no-progress")
    bucket = f"s3://{BUCKET}"
    for number, wanted in enumerate((len(FILES) + 1, 0, 0, 3, 0)):
        if number == 3:
            change()
        told = lines(do(*there, TREE, bucket), "upload:", "delete:")
        assert len(told) == wanted, (number, told)
    for wanted in (len(held(TREE)), 0):
        told = lines(do(*there, bucket, PLACE / "back"), "download:", "delete:")
        assert len(told) == wanted, told
        same(PLACE / "back")
    do("s3", "--endpoint-url", URL, "rm", "--recursive", "--quiet", bucket)
    assert (
        do("s3", "--endpoint-url", URL, "ls", "--recursive", bucket, "--summarize").split()[2]
        == "0"
    )


def s3cmd() -> None:
    """sync --delete-removed there three times, and back"""
    config = ("[default]", f"access_key = {KEY}", f"secret_key = {SECRET}", "use_https = False")
    hosts = (f"host_base = {HOST}", f"host_bucket = {HOST}", "multipart_chunk_size_mb = 5")
    (PLACE / ".s3cfg").write_text("\n".join((*config, *hosts)))
    there = ("sync", "--no-progress", "--delete-removed", f"{TREE}/", f"s3://{BUCKET}/")
    for number, wanted in enumerate((len(FILES) + 1, 0, 3)):
        if number == 2:
            change()
        told = lines(do(*there), "upload:", "delete:", "remote copy:")
        assert len(told) == wanted, (number, told)
    (PLACE / "back").mkdir()
    do("sync", "--no-progress", f"s3://{BUCKET}/", f"{PLACE / 'back'}/")
    same(PLACE / "back")
    do("del", "--recursive", "--force", f"s3://{BUCKET}/")
    assert not do("ls", "--recursive", f"s3://{BUCKET}/").strip()


def rclone() -> None:
    """sync there three times, checked by its bytes, and back"""
    config = ("config", "create", "s3", "s3", "provider=Other", "env_auth=true")
    do(*config, f"endpoint={URL}", "force_path_style=true")
    bucket, parts = f"s3:{BUCKET}", ("--s3-chunk-size=5Mi", "--s3-upload-cutoff=5Mi")
    for number, wanted in enumerate((len(FILES) + 1, 0, 3)):
        if number == 2:
            change()
        told = lines(do("sync", "-v", *parts, TREE, bucket), ": Copied", ": Deleted")
        assert len(told) == wanted, (number, told)
    do("check", "--download", TREE, bucket)
    do("sync", bucket, PLACE / "back")
    same(PLACE / "back")
    do("delete", bucket)
    assert not do("lsf", "-R", "--files-only", bucket)


def restic() -> None:
    """two backups, checked, the second one restored, the first one forgotten"""
    more = {"RESTIC_PASSWORD": "secret", "RESTIC_REPOSITORY": f"s3:{URL}/{BUCKET}"}
    do("init", **more)
    do("backup", TREE, **more)
    change()
    do("backup", TREE, **more)
    do("forget", "--keep-last", "1", "--prune", **more)
    do("check", "--read-data", **more)
    do("restore", "latest", "--target", PLACE / "back", **more)
    same(Path(f"{PLACE / 'back'}{TREE}"))


def duplicity() -> None:
    """a full and an incremental backup, compared and restored"""
    where = ("--no-encryption", "--s3-endpoint-url", URL, f"--archive-dir={PLACE / 'archive'}")
    url = f"boto3+s3://{BUCKET}/a b/backup"
    do("full", *where, "--volsize", "6", TREE, url)
    change()
    do("incremental", *where, TREE, url)
    do("verify", "--compare-data", *where, url, TREE)
    shutil.rmtree(PLACE / "archive")
    do("restore", *where, url, PLACE / "back")
    same(PLACE / "back")


def s3fs() -> None:
    """a mounted bucket, also with folders: written, read, renamed and removed"""
    mounted = PLACE / "mounted"
    mounted.mkdir()
    options = f"url={URL},use_path_request_style,multipart_size=10"
    do(BUCKET, mounted, "-o", options)
    try:
        for name in held(TREE):
            (mounted / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(TREE / name, mounted / name)
        same(mounted)
        (mounted / "a").rename(mounted / "moved")
        (TREE / "a").rename(TREE / "moved")
        same(mounted)
        (mounted / "+").unlink()
        (TREE / "+").unlink()
        same(mounted)
        shutil.rmtree(mounted / LONG.split("/")[0])
        shutil.rmtree(TREE / LONG.split("/")[0])
        same(mounted)
    finally:
        subprocess.run(["umount", mounted], check=True)
    do(BUCKET, mounted, "-o", options)
    try:
        same(mounted)
    finally:
        subprocess.run(["umount", mounted], check=True)


STORIES: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (aws, s3cmd, rclone, restic, duplicity, s3fs)
}

plant()
try:
    run([STORIES[PROGRAM]])
finally:
    shutil.rmtree(PLACE)
