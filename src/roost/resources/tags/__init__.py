"""Tags: labels that users put on their entities."""
