"""Compute types: the plans of instances with their prices."""
