"""The book's own machinery: claims, the register, experiments, results, figures, Sphinx."""
