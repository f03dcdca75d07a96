"""What makes the assignments from their sources."""
