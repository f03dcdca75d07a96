"""Instances on which pages check their claims."""
