"""The experiments of the book, one module a chapter; `experiments.discover` finds every module."""
