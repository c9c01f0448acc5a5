"""How events and grants name StackScripts."""

from roost.core.entities.kind import ResourceKind
from roost.resources.stackscripts.queries import OWN

STACKSCRIPT = ResourceKind(
    name="stackscript",
    path="/compute/stackscripts/{id}",
    listing=OWN,
    label="s.label",
)
