"""What the operator's commands show, and what they do: without HTTP, beside a running server."""
