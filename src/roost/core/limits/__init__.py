"""How much an account may have, and how much a region's host can hold."""
