"""The bounds of the theory as numbers."""
