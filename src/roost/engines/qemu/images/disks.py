"""Root disks from directory trees; neither loop devices nor mounts are needed."""

from pathlib import Path

from roost.engines.qemu.images.commands import run


async def make_disk(tree: Path, target: Path, size: int, label: str) -> None:
    """Write a qcow2 of `size` MB at `target`: one ext4 file system with the files of `tree`.

    It can grow to 1 TB while it is mounted.
    """
    raw = target.with_suffix(".raw")
    layout = ("-b", "4096", "-E", "lazy_itable_init=1,resize=268435456")
    await run("mkfs.ext4", "-q", "-F", "-L", label, *layout, "-d", tree, raw, f"{size}M")
    await run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", raw, target)
    raw.unlink()
