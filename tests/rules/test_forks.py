"""What happens in the server's process when it starts a program.

A library with handlers of its own for fork(2) runs them in the child, without the threads that it
counts on: grpcio's kill programs before they begin. uvloop's forgets its own state, and no more.
"""

from pathlib import Path

import grpclib.client
import uvloop

_REGISTERS = (b"__register_atfork", b"pthread_atfork")


def test_no_library_does_anything_at_a_fork_but_uvloop() -> None:
    libraries = Path(uvloop.__file__).parents[1]
    assert libraries == Path(grpclib.client.__file__).parents[1]
    acting = {
        path.relative_to(libraries).parts[0]
        for path in libraries.rglob("*.so*")
        if any(each in path.read_bytes() for each in _REGISTERS)
    }
    assert acting == {"uvloop"}
