"""What the host gives to guests: its programs, files and room."""
