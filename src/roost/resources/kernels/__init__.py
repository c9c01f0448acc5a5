"""Kernels.

What configs boot.
"""
