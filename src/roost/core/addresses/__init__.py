"""IP addresses of the catalogue's pools: who has which."""
