"""What events of addresses are about."""

from roost.core.entities.kind import EntityKind

IP_ADDRESS = EntityKind(name="ipaddress", path="/networking/ips/{label}")
