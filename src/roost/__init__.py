"""Roost: a cloud you run yourself."""
