"""Regions and what is available in them."""
