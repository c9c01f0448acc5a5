"""What simulated private networks have on other hosts."""

from pydantic import TypeAdapter

from roost.engines.simulated.plane import Plane
from roost.engines.simulated.state import Documents
from roost.resources.compute.overlay_engine import Overlay

_KIND = "overlay"
_OVERLAY = TypeAdapter(Overlay)


class SimulatedOverlay:
    """An OverlayEngine that carries nothing, and remembers what it was told."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    async def set(self, overlay: Overlay) -> None:
        text = _OVERLAY.dump_json(overlay).decode()
        await self._plane.begin("overlay_set", lambda documents: _write(documents, text))

    async def get(self) -> Overlay | None:
        held = await self._plane.transact(lambda documents: documents.read(_KIND, ""))
        return Overlay() if held is None else _read(held)

    async def lose(self) -> None:
        """Somebody changes what the kernel has."""
        await self._plane.transact(lambda documents: _write(documents, "null"))


def remote_addresses(documents: Documents) -> set[str]:
    """The addresses of guests on other hosts of the region."""
    held = documents.read(_KIND, "")
    overlay = None if held is None else _read(held)
    return set() if overlay is None else {str(each.address) for each in overlay.region}


def _write(documents: Documents, text: str) -> None:
    documents.write(_KIND, "", text)


def _read(text: str) -> Overlay | None:
    return None if text == "null" else _OVERLAY.validate_json(text)
