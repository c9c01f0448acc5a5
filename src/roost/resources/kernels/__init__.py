"""Kernels that an instance's configuration may name."""
