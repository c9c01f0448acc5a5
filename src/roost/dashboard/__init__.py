"""The operator's pages: what the commands beside a server show and do, in a browser."""
