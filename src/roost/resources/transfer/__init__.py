"""Outbound transfer: what the plans of instances give, in one pool."""
