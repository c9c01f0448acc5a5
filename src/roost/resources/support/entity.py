"""How events name tickets."""

from roost.resources.entities.kind import EntityKind

TICKET = EntityKind(name="ticket", path="/support/tickets/{id}")
