"""The host's programs at work on the disks of one guest, as that guest's user."""

from collections.abc import Container, Sequence

from roost.engines.qemu.guests import Guest
from roost.engines.qemu.programs import Listener, run
from roost.engines.qemu.users import as_user_of


async def run_for(
    guest: Guest,
    doing: str,
    *command: str,
    files: Sequence[int] = (),
    ok: Container[int] = (0,),
    heard: Listener | None = None,
) -> str:
    """As `run`, in the guest's directory; `files` are open there as `/proc/self/fd/N`.

    The program ends when this process does.
    """
    alone = (*as_user_of(guest), "--pdeathsig=KILL")
    return await run(doing, *alone, *command, cwd=guest.directory, files=files, ok=ok, heard=heard)
