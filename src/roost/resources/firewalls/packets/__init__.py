"""What becomes of a packet, and why (Roost's own; docs/firewalls.md)."""
