"""How events name tickets."""

from roost.core.entities.kind import EntityKind

TICKET = EntityKind(name="ticket", path="/support/tickets/{id}")
