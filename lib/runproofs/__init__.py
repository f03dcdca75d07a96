"""Dropout and adversarial training, claim by claim: the library of the book."""
