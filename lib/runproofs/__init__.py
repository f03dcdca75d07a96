"""Dropout and adversarial training, claim by claim: `import runproofs as rp`.

The names below are what people need most; each is loaded when it is first used, so that only what
trains or attacks networks needs torch (`pip install "runproofs[torch]"`). The modules `linear`,
`networks`, `adversarial` and `bounds` have the rest. On the command line: `runproofs --help`.
"""

from importlib import import_module
from importlib.metadata import version

from runproofs import _optional  # noqa: F401 - says what to install where something is missing

NAMES = {
    # Proofs
    "claim": "claims.block.claim",  # a block that checks a claim, row by row
    "register": "claims.registry.register",  # all claims by id
    # Masks
    "all_masks": "masks.all_masks",  # every mask of a layer with its probability
    "expectation": "masks.expectation",  # an average over all masks
    # Shallow linear networks under dropout
    "dropout_objective": "linear.shallow.objective",  # loss plus penalty, in closed form
    "dropout_objective_by_enumeration": "linear.shallow.objective_by_enumeration",  # mask by mask
    "dropout_penalty": "linear.shallow.regularizer",  # what dropout adds to the loss
    "optimal_factors": "linear.shallow.optimal_factors",  # the best network of a width
    "optimal_product": "linear.shallow.optimal_product",  # the map that it computes
    "optimal_spectrum": "linear.shallow.optimal_spectrum",  # its singular values
    "train_linear": "linear.shallow_training.train_linear",  # dropout as one would run it
    "equalizer": "linear.equalize.equalizer",  # a rotation that makes all units equally important
    "equalize_fft": "linear.equalize.equalize_fft",  # the same in O(r log r) for a matrix
    "importance_scores": "linear.equalize.importance_scores",  # what each unit pays
    "is_equalized": "linear.equalize.is_equalized",
    "hessian": "linear.landscape.hessian",  # of the objective
    "critical_points": "linear.landscape.critical_points",  # all of them
    "descend": "linear.landscape.descend",  # to a second-order critical point
    # Deep linear networks
    "deep_objective": "linear.deep.objective",
    "deep_penalty": "linear.deep.regularizer",
    "deep_global_optimum": "linear.deep.global_optimum",
    "induced_regularizer": "linear.deep.induced_regularizer",  # the least penalty of a map
    # Matrices
    "shrink": "linalg.shrink",  # soft thresholding of singular values
    "weighted_trace_norm": "linear.sensing.weighted_trace_norm",
    "complete_matrix": "linear.completion.als",  # with dropout, by alternating least squares
    "projective_norm": "linear.projective_norms.projective_norm",
    # Networks with rectified units
    "TwoLayerNetwork": "networks.two_layer.TwoLayerNetwork",
    "relu_dropout_penalty": "networks.relu_dropout.regularizer",
    "retentiveness": "networks.capacity.retentiveness",  # what a rectified unit leaves of the data
    "train_lazy": "networks.lazy.algorithm_4",  # Algorithm 4: logistic loss, dropout, wide layer
    "subnetwork_accuracy": "networks.subnetworks.predicted_accuracy",
    # What your model does
    "dropout_report": "networks.dropout_report.dropout_report",  # what each dropout layer adds
    "attack_report": "adversarial.attack_report.attack_report",  # what attacks find, and miss
    # Adversarial training
    "pgd": "adversarial.attacks.pgd",  # projected gradient ascent on any model
    "fgsm": "adversarial.attacks.fgsm",
    "all_targets": "adversarial.attacks.all_targets",
    "margin": "adversarial.attacks.margin",
    "worst_case": "adversarial.worst_case.worst_case",  # exact, for two-layer networks
    "robust_error": "adversarial.worst_case.robust_error",
    "adversarial_training": "adversarial.robust_training.adversarial_training",
    # Bounds
    "theorem_12": "bounds.dropout.theorem_12",
    "theorem_14": "bounds.lazy.theorem_14",
    "theorem_15": "bounds.lazy.theorem_15",
    "empirical_complexity": "bounds.rademacher.empirical_complexity",
}


def __getattr__(name: str):
    if name == "__version__":
        return version("runproofs")
    if name not in NAMES:
        raise AttributeError(f"module 'runproofs' has no attribute {name!r}")
    module, _, attribute = NAMES[name].rpartition(".")
    return getattr(import_module(f"runproofs.{module}"), attribute)


def __dir__():
    return sorted([*globals(), *NAMES, "__version__"])
