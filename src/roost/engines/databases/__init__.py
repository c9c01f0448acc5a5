"""What database servers of this host share, whichever program they are."""
