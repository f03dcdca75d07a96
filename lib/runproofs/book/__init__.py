"""The machinery of pages: claims, the register, experiments, results, figures."""
