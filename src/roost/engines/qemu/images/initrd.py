"""The initial RAM disk of guests that start without firmware: drivers, busybox and one script.

The root disk is the one at the LUN that the command line names as `roost.lun`, or else the first,
whatever its label: a copy of it that is attached as a volume cannot be taken for it.
"""

import gzip
import shutil
from collections.abc import Iterable
from pathlib import Path

from roost.engines.qemu.images.commands import run
from roost.engines.qemu.images.guest import lines, place
from roost.threads import DISK


async def pack_initrd(system: Path, tree: Path) -> bytes:
    """What boots the kernel of the unpacked `system`; laid out in `tree` first."""
    release = kernel_release(system)
    await run("depmod", "-b", system, release)
    names = await DISK.run(_lay_out, system, release, tree)
    pack = ("cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet")
    archive = await run(*pack, cwd=tree, feed="\n".join(names).encode())
    return await DISK.run(gzip.compress, archive, 1)


def kernel_release(system: Path) -> str:
    """The version of the only kernel in the unpacked `system`, as in `/lib/modules`."""
    return next((system / "lib/modules").iterdir()).name


def _lay_out(system: Path, release: str, tree: Path) -> list[str]:
    for name in ("bin", "dev", "proc", "sys", "root", "modules"):
        (tree / name).mkdir(parents=True)
    source = system / "lib/modules" / release
    modules = in_load_order((source / "modules.dep").read_text(), lines("modules"))
    for module in modules:
        shutil.copy(source / module, tree / "modules")
    (tree / "modules/list").write_text("".join(f"{Path(module).name}\n" for module in modules))
    shutil.copy(system / "bin/busybox", tree / "bin")
    place("init", tree / "init")
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))


def in_load_order(dependencies: str, names: Iterable[str]) -> list[str]:
    """Paths of the named modules, each after those that it needs; built-in ones are left out.

    `dependencies` is the text of `modules.dep`.
    """
    table = dict(line.split(":", 1) for line in dependencies.splitlines())
    paths = {Path(path).stem.replace("-", "_"): path for path in table}
    order: dict[str, None] = {}
    for path in (paths[name] for name in names if name in paths):
        order |= dict.fromkeys([*reversed(table[path].split()), path])
    return list(order)
