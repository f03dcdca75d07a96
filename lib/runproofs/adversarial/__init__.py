"""Attacks, exact worst cases, and adversarial training."""
