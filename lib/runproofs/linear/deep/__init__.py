"""Dropout in deep linear networks: regularizers, the induced regularizer, optima.

A network has weights W_1 (d_1, d_0), ..., W_{k+1} (d_{k+1}, d_k), k >= 1, in a list; the widths
d_1, ..., d_k of its hidden layers; the network map ``W_{k+1} ... W_1``; and
lam = (1 - theta) / theta. Training is the module ``deep_training``, apart because it loads torch,
which takes seconds.
"""

from runproofs.linear.deep.equalized import (
    effective_regularization,
    effective_regularization_parts,
    equalization_defect,
    equalization_gaps,
    is_equalized,
    rank_one_implementation,
)
from runproofs.linear.deep.induced import (
    implementation,
    induced_regularizer,
    optimal_implementation,
)
from runproofs.linear.deep.network import (
    gradient,
    masked_maps,
    network_map,
    objective,
    objective_by_enumeration,
    pivot_products,
    pivot_sets,
    random_network,
    regularizer,
    subregularizers,
    subregularizers_over_pivots,
)
from runproofs.linear.deep.optima import envelope_optimum, global_optimum, local_optimum
from runproofs.linear.deep.search import search_implementation, search_optimum

__all__ = [
    "effective_regularization",
    "effective_regularization_parts",
    "envelope_optimum",
    "equalization_defect",
    "equalization_gaps",
    "global_optimum",
    "gradient",
    "implementation",
    "induced_regularizer",
    "is_equalized",
    "local_optimum",
    "masked_maps",
    "network_map",
    "objective",
    "objective_by_enumeration",
    "optimal_implementation",
    "pivot_products",
    "pivot_sets",
    "random_network",
    "rank_one_implementation",
    "regularizer",
    "search_implementation",
    "search_optimum",
    "subregularizers",
    "subregularizers_over_pivots",
]
