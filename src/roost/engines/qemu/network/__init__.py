"""The networks of guests on this host, and the packet filters in them."""
