"""Payments by a gateway of the field, over its HTTP API."""
