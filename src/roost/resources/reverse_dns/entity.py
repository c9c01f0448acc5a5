"""How events name addresses."""

from roost.core.entities.kind import EntityKind

IP_ADDRESS = EntityKind(name="ipaddress", path="/networking/ips/{label}")
