"""Later revisions.

What clients of later revisions ask for that the API does not have: lists of what is not there,
prices, and what follows from the catalogue. It is served at the listener of a dialect only.
"""
