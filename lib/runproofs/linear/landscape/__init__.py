"""The landscape of shallow dropout: exact Hessians, all kinds of critical points, descents.

F and f are the untied and the tied objective of the module `runproofs.linear.shallow`.
"""

from runproofs.linear.landscape.descent import (
    Descent,
    descend,
    find_critical_point,
    find_tied_critical_point,
)
from runproofs.linear.landscape.enumeration import (
    CriticalPoint,
    TiedBlocks,
    TiedCriticalPoint,
    all_tied_critical_points,
    critical_points,
    tied_critical_points,
)
from runproofs.linear.landscape.hessians import (
    hessian,
    is_strict_saddle,
    least_eigenvalue,
    tied_hessian,
)

__all__ = [
    "CriticalPoint",
    "Descent",
    "TiedBlocks",
    "TiedCriticalPoint",
    "all_tied_critical_points",
    "critical_points",
    "descend",
    "find_critical_point",
    "find_tied_critical_point",
    "hessian",
    "is_strict_saddle",
    "least_eigenvalue",
    "tied_critical_points",
    "tied_hessian",
]
