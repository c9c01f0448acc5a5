"""Names of addresses: those that users set, and the defaults that resolve forward and back."""
