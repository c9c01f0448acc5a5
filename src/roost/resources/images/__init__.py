"""Images that instances are made from."""
