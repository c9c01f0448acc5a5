"""The long-lived objects of a process, found by their type.

The composition root fills it; handlers, validators and job steps ask it for what they need, so
that a layer never imports the one that builds these objects.
"""

from typing import TypeVar

T = TypeVar("T")


class Services:
    def __init__(self, *services: object) -> None:
        self._services = {type(service): service for service in services}

    def add(self, service: object) -> None:
        self._services[type(service)] = service

    def get(self, kind: type[T]) -> T:
        """Raises LookupError when the composition root gave none of this type."""
        service = self._services.get(kind)
        if not isinstance(service, kind):
            raise LookupError(f"no service of type {kind.__name__}")
        return service
