"""Messages to a URL of the operator's."""
