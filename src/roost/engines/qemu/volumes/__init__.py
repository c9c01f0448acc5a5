"""Volumes as files of the host."""
