"""Dropout in deep linear networks: regularizers, the induced regularizer, optima, training.

A network has weights W_1 (d_1, d_0), ..., W_{k+1} (d_{k+1}, d_k), k >= 1, in a list; the widths
d_1, ..., d_k of its hidden layers; the network map W_{k+1} ... W_1; and lam = (1 - theta) / theta.
"""

from heuristics.deep.network import (
    effective_regularization,
    effective_regularization_parts,
    equalization_defect,
    equalization_gaps,
    gradient,
    is_equalized,
    masked_maps,
    network_map,
    objective,
    objective_by_enumeration,
    pivot_products,
    rank_one_implementation,
    regularizer,
    subregularizers,
    subregularizers_over_pivots,
)

__all__ = [
    "effective_regularization",
    "effective_regularization_parts",
    "equalization_defect",
    "equalization_gaps",
    "gradient",
    "is_equalized",
    "masked_maps",
    "network_map",
    "objective",
    "objective_by_enumeration",
    "pivot_products",
    "rank_one_implementation",
    "regularizer",
    "subregularizers",
    "subregularizers_over_pivots",
]
