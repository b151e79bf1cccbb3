"""Who hides with whom: one file per algorithm."""

from shoal.methods.anatomy import Anatomy
from shoal.methods.base import Method, Task
from shoal.methods.caat import Caat
from shoal.methods.cbfs import Cbfs
from shoal.methods.dba import Dba
from shoal.methods.groups import Groups
from shoal.methods.k_means import KMeans
from shoal.methods.k_member import KMember
from shoal.methods.kaca import Kaca
from shoal.methods.m_invariance import MInvariance
from shoal.methods.mdav import Mdav
from shoal.methods.mondrian import Mondrian
from shoal.methods.oka import Oka
from shoal.methods.optimal_univariate import OptimalUnivariate
from shoal.methods.r_cellular import RCellular
from shoal.methods.r_gather import RGather
from shoal.methods.slicing import Slicing
from shoal.methods.tfrp import Tfrp
from shoal.methods.threshold_greedy import ThresholdGreedy
from shoal.methods.v_mdav import VMdav
from shoal.methods.weighted_c_means import WeightedCMeans

CROWDS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Caat, Kaca, KMember, Oka, KMeans, ThresholdGreedy, WeightedCMeans, Mdav, VMdav, Cbfs, Dba, Tfrp,
        OptimalUnivariate, RGather, RCellular, Mondrian,
    )
}  # fmt: skip
"""Methods that hide everybody among k people with equal cells."""

METHODS: dict[str, type[Method]] = {**CROWDS, Anatomy.name: Anatomy, Slicing.name: Slicing}
"""All methods for a table that is published once."""

SERIES: dict[str, type[Method]] = {MInvariance.name: MInvariance}
"""Methods for a table that is published over and over; they need to know the releases before."""

__all__ = [
    "CROWDS", "METHODS", "SERIES", "Anatomy", "Caat", "Cbfs", "Dba", "Groups", "KMeans", "KMember", "Kaca",
    "MInvariance", "Mdav", "Method", "Mondrian", "Oka", "OptimalUnivariate", "RCellular", "RGather", "Slicing",
    "Task", "Tfrp", "ThresholdGreedy", "VMdav", "WeightedCMeans",
]  # fmt: skip
