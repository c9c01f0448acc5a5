"""Compute types.

Sizes of instances, also called plans, with their prices.
"""
