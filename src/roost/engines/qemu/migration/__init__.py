"""Live migration: guests that go to another host while they run."""
