"""Telling users what happens: events, and the jobs that they show."""
