"""A PowerDNS that the operator runs."""

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.listeners import Listener
from roost.engines.powerdns.api import Api, Place
from roost.engines.powerdns.config import TRANSFERS, VISIBLE_AT_ONCE
from roost.engines.powerdns.messages import SETTINGS
from roost.threads import DISK

_NEEDED = {**VISIBLE_AT_ONCE, **TRANSFERS}


class RemoteServer:
    """Its API is at `url`; `key_file` holds the key, and is read anew for each call."""

    def __init__(self, url: str, key_file: Path, listeners: tuple[Listener, ...]) -> None:
        self.listeners = listeners
        self.restarts = 0
        self._url = url.rstrip("/")
        self._key_file = key_file

    async def ensure(self) -> Place:
        try:
            key = await DISK.run(self._key_file.read_text)
        except OSError as error:
            raise EngineError("The key of the name server's API cannot be read") from error
        return Place(self._url, key.strip())

    def changing(self) -> AbstractAsyncContextManager[None]:
        """Its database is the operator's, and may take many changes at once."""
        return nullcontext()

    async def start(self) -> None:
        """Raises EngineError when zones of Roost cannot be kept there."""
        api = Api(self)
        try:
            settings = SETTINGS.validate_json(await api.read("/config"))
        finally:
            await api.close()
        held = {each["name"]: each["value"] for each in settings}
        wrong = [f"{name}={value}" for name, value in _NEEDED.items() if held.get(name) != value]
        if wrong:
            raise EngineError(f"The name server must be configured with {', '.join(wrong)}")

    async def stop(self) -> None:
        """The operator does."""

    async def release(self) -> None:
        """Nothing is held."""
