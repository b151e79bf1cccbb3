"""Who hides with whom: one file per algorithm."""

from shoal.methods.base import Method, Task
from shoal.methods.caat import Caat
from shoal.methods.cbfs import Cbfs
from shoal.methods.dba import Dba
from shoal.methods.groups import Groups
from shoal.methods.k_member import KMember
from shoal.methods.kaca import Kaca
from shoal.methods.mdav import Mdav
from shoal.methods.mondrian import Mondrian
from shoal.methods.optimal_univariate import OptimalUnivariate
from shoal.methods.r_cellular import RCellular
from shoal.methods.r_gather import RGather
from shoal.methods.tfrp import Tfrp
from shoal.methods.threshold_greedy import ThresholdGreedy
from shoal.methods.v_mdav import VMdav

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (Caat, Kaca, KMember, ThresholdGreedy, Mdav, VMdav, Cbfs, Dba, Tfrp, OptimalUnivariate, Mondrian,
        RGather, RCellular)
}  # fmt: skip

__all__ = [
    "METHODS", "Caat", "Cbfs", "Dba", "Groups", "KMember", "Kaca", "Mdav", "Method", "Mondrian", "OptimalUnivariate",
    "RCellular", "RGather", "Task", "Tfrp", "ThresholdGreedy", "VMdav",
]  # fmt: skip
