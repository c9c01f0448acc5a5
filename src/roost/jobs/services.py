"""What steps reach besides the database."""

from typing import TypeVar

Service = TypeVar("Service")


class Services:
    """Objects found by their type, such as the catalogue or the engines of a group."""

    def __init__(self, *services: object) -> None:
        self._services = services

    def get(self, kind: type[Service]) -> Service:
        """The first service that is a `kind`. LookupError when there is none."""
        for service in self._services:
            if isinstance(service, kind):
                return service
        raise LookupError(f"no service of type {kind.__qualname__}")
