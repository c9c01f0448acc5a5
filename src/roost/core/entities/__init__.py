"""What events, grants, tags and support tickets know of all kinds of entities."""
