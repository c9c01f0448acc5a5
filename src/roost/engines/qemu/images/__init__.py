"""Images of guests: built, fetched, imported and kept on the host."""
