"""Regions.

Places where things can be made, and what they offer.
"""
