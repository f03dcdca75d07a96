"""What makes the assignments, grades what is handed in, and tests both."""
