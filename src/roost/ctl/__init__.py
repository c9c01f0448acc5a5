"""`roostctl`: the API as a command line, for those who have a token and not the machine."""
