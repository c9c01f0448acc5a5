"""Explanations.

Why a request would be refused.
"""
