"""Dropout in linear networks: shallow and deep, their regularizers, optima and training."""
