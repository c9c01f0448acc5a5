"""How events name addresses."""

from roost.resources.entities.kind import EntityKind

IP_ADDRESS = EntityKind(name="ipaddress", path="/networking/ips/{label}")
