# What `import runproofs as rp` has: __init__.py loads each name when it is first used.

# Proofs
from .claims.block import claim as claim  # a block that checks a claim, row by row
from .claims.registry import register as register  # all claims by id

# Masks
from .masks import all_masks as all_masks  # every mask of a layer with its probability
from .masks import expectation as expectation  # an average over all masks

# Shallow linear networks under dropout
from .linear.shallow import objective as dropout_objective  # loss plus penalty, in closed form
from .linear.shallow import objective_by_enumeration as dropout_objective_by_enumeration
from .linear.shallow import regularizer as dropout_penalty  # what dropout adds to the loss
from .linear.shallow import optimal_factors as optimal_factors  # the best network of a width
from .linear.shallow import optimal_product as optimal_product  # the map that it computes
from .linear.shallow import optimal_spectrum as optimal_spectrum  # its singular values
from .linear.shallow_training import train_linear as train_linear  # dropout as one would run it
from .linear.equalize import equalizer as equalizer  # makes all units equally important
from .linear.equalize import equalize_fft as equalize_fft  # the same in O(r log r) for a matrix
from .linear.equalize import importance_scores as importance_scores  # what each unit pays
from .linear.equalize import is_equalized as is_equalized
from .linear.landscape import hessian as hessian  # of the objective
from .linear.landscape import critical_points as critical_points  # all of them
from .linear.landscape import descend as descend  # to a second-order critical point

# Deep linear networks
from .linear.deep import objective as deep_objective
from .linear.deep import regularizer as deep_penalty
from .linear.deep import global_optimum as deep_global_optimum
from .linear.deep import induced_regularizer as induced_regularizer  # the least penalty of a map

# Matrices
from .linalg import shrink as shrink  # soft thresholding of singular values
from .linear.sensing import weighted_trace_norm as weighted_trace_norm
from .linear.completion import als as complete_matrix  # with dropout, by alternating least squares
from .linear.projective_norms import projective_norm as projective_norm

# Networks with rectified units
from .networks.two_layer import TwoLayerNetwork as TwoLayerNetwork
from .networks.relu_dropout import regularizer as relu_dropout_penalty
from .networks.capacity import retentiveness as retentiveness  # what a unit leaves of the data
from .networks.lazy import algorithm_4 as train_lazy  # with logistic loss and dropout, wide
from .networks.subnetworks import predicted_accuracy as subnetwork_accuracy

# Reports on a torch model
from .networks.dropout_report import dropout_report as dropout_report  # what each layer adds
from .adversarial.attack_report import attack_report as attack_report  # what attacks find, and miss

# Adversarial training
from .adversarial.attacks import pgd as pgd  # projected gradient ascent on any model
from .adversarial.attacks import fgsm as fgsm
from .adversarial.attacks import all_targets as all_targets
from .adversarial.attacks import margin as margin
from .adversarial.worst_case import worst_case as worst_case  # exact, for two-layer networks
from .adversarial.worst_case import robust_error as robust_error
from .adversarial.robust_training import adversarial_training as adversarial_training

# Bounds
from .bounds.dropout import theorem_12 as theorem_12
from .bounds.lazy import theorem_14 as theorem_14
from .bounds.lazy import theorem_15 as theorem_15
from .bounds.rademacher import empirical_complexity as empirical_complexity

__version__: str

# Without it a type checker takes what has another name here for private.
__all__ = [  # noqa: RUF022 - as above
    "claim", "register", "all_masks", "expectation", "dropout_objective",
    "dropout_objective_by_enumeration", "dropout_penalty", "optimal_factors", "optimal_product",
    "optimal_spectrum", "train_linear", "equalizer", "equalize_fft", "importance_scores",
    "is_equalized", "hessian", "critical_points", "descend", "deep_objective", "deep_penalty",
    "deep_global_optimum", "induced_regularizer", "shrink", "weighted_trace_norm",
    "complete_matrix", "projective_norm", "TwoLayerNetwork", "relu_dropout_penalty",
    "retentiveness", "train_lazy", "subnetwork_accuracy", "dropout_report", "attack_report",
    "pgd", "fgsm", "all_targets", "margin", "worst_case", "robust_error",
    "adversarial_training", "theorem_12", "theorem_14", "theorem_15", "empirical_complexity",
]  # fmt: skip
