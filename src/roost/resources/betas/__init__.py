"""Beta programs: what accounts may try before it is offered to all (reference: Betas)."""
