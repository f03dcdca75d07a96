"""Eight assignments, what makes and tests them, and the grader. See WRITING.md."""
