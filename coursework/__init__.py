"""Eight assignments, and the tools that make, grade and test them. See WRITING.md."""
