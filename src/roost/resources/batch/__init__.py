"""Batches.

Several reads in one request.
"""
