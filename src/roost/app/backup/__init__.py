"""`roost backup` and `roost restore`: the state of a cloud as one file."""
