"""The long-lived objects of a process, found by their type.

The composition root fills it; handlers, validators and job steps ask it for what they need, so
that a layer never imports the one that builds these objects.
"""

from typing import TypeVar

Service = TypeVar("Service")


class Services:
    def __init__(self, *services: object) -> None:
        self._services = services
        self._found: dict[type, object] = {}

    def get(self, kind: type[Service]) -> Service:
        """The first service that is a `kind`. LookupError when there is none."""
        found = self._found.get(kind)
        if isinstance(found, kind):
            return found
        for service in self._services:
            if isinstance(service, kind):
                self._found[kind] = service
                return service
        raise LookupError(f"no service of type {kind.__qualname__}")
