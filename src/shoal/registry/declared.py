"""What there is, by name, and what methods and publishers take and promise, as data.

The pipeline promises by this table and the checker refuses by it, so neither can say something else than the other. A
manifest that names a method, a publisher or a parameter that is not here is refused. What other packages bring says of
itself what stands here for Shoal's own (`Method.declaration`, `Publisher.declaration`).
"""

from __future__ import annotations

from typing import Any

from shoal.errors import ParameterError, Problem, did_you_mean
from shoal.registry.declarations import Declared, DeclaredColumnPublisher, DeclaredPublisher, Of, OneOver, Promised
from shoal.registry.registry import Registry
from shoal.spec import (
    Bound,
    ByColumn,
    ByName,
    ColumnName,
    Maybe,
    OneOf,
    Ranges,
    Real,
    Several,
    Share,
    Weights,
    Whole,
    YesNo,
)  # fmt: skip

K: dict[str, Bound] = {"k": Whole(2)}
ROWS = Maybe(Several(Whole(0)))
K_ANONYMITY = (Promised("k-anonymity", {"k": Of(("k",))}),)
STANDARDIZE: dict[str, Bound] = {"standardize": YesNo()}

METHODS: dict[str, Declared] = {
    "caat": Declared(
        "shoal.methods.caat:Caat",
        K | {"interval": OneOf(("mean_cost", "hull", "gap", "midpoint")), "ties": OneOf(("one", "all"))},
        K_ANONYMITY,
        private={"start": Maybe(Whole(0))},
    ),
    "kaca": Declared(
        "shoal.methods.kaca:Kaca",
        K
        | {
            "weights": OneOf(("uniform", "height")),
            "beta": Real(1),
            "pick": OneOf(("smallest", "random")),
        },
        K_ANONYMITY,
    ),
    "k-member": Declared(
        "shoal.methods.k_member:KMember",
        K
        | {
            "ref": OneOf(("last", "seed")),
            "cost": OneOf(("hierarchy", "set")),
            "label": Maybe(ColumnName()),
            "label_weight": Real(0, open_low=True),
            "diverse": Maybe(ColumnName()),
            "l": Maybe(Whole(2)),
        },
        K_ANONYMITY,
        private={"start": Maybe(Whole(0))},
    ),
    "oka": Declared(
        "shoal.methods.oka:Oka",
        K | {"centroid": OneOf(("lca", "mode")), "order": OneOf(("sorted", "file"))},
        K_ANONYMITY,
        private={"seeds": ROWS},
    ),
    "k-means": Declared(
        "shoal.methods.k_means:KMeans",
        K
        | {
            "variant": Whole(1, 3),
            "features": OneOf(("qi", "all")),
            "centroid": OneOf(("mode", "lca")),
            "max_iter": Whole(1),
        },
        K_ANONYMITY,
        private={"seeds": ROWS},
    ),
    "threshold-greedy": Declared(
        "shoal.methods.threshold_greedy:ThresholdGreedy",
        K
        | {
            "delta": Real(0),
            "w": Real(0, 1),
            "weights": Maybe(Weights()),
            "below": OneOf(("suppress", "return")),
            "max_size": Maybe(Whole(2)),
        },
        K_ANONYMITY,
        private={"seeds": ROWS},
        leaves_out="any",
    ),
    "weighted-c-means": Declared(
        "shoal.methods.weighted_c_means:WeightedCMeans",
        K | {"beta": Real(1, open_low=True), "weights": Maybe(Weights()), "max_iter": Whole(1)},
        K_ANONYMITY,
        private={"seeds": ROWS},
    ),
    "mdav": Declared("shoal.methods.mdav:Mdav", K | {"leftover": OneOf(("generic", "assign"))}, K_ANONYMITY),
    "v-mdav": Declared("shoal.methods.v_mdav:VMdav", K | {"gamma": Real(0.0)}, K_ANONYMITY),
    "cbfs": Declared("shoal.methods.cbfs:Cbfs", K, K_ANONYMITY),
    "dba": Declared("shoal.methods.dba:Dba", K | {"variant": Whole(1, 2)}, K_ANONYMITY),
    "tfrp": Declared("shoal.methods.tfrp:Tfrp", K | {"variant": Whole(1, 2)}, K_ANONYMITY),
    "optimal-univariate": Declared("shoal.methods.optimal_univariate:OptimalUnivariate", K, K_ANONYMITY),
    "r-gather": Declared(
        "shoal.methods.r_gather:RGather",
        K | {"epsilon": Share(open_high=True)} | STANDARDIZE,
        K_ANONYMITY,
        leaves_out="epsilon",
    ),
    "r-cellular": Declared(
        "shoal.methods.r_cellular:RCellular", K | {"facility": Real(0.0)} | STANDARDIZE, K_ANONYMITY
    ),
    "mondrian": Declared(
        "shoal.methods.mondrian:Mondrian",
        K | {"strict": YesNo(), "width": OneOf(("true", "box")), "nominal": OneOf(("tree", "order"))},
        K_ANONYMITY,
    ),
    "anatomy": Declared(
        "shoal.methods.anatomy:Anatomy",
        {"l": Whole(2), "column": Maybe(ColumnName())},
        (Promised("alpha-k", {"column": Of(("column",)), "alpha": OneOver(("l",))}),),
        protects="links",
        publishers=("buckets",),
    ),
    "slicing": Declared(
        "shoal.methods.slicing:Slicing",
        {
            "l": Whole(2),
            "columns": Maybe(Whole(1)),
            "k": Maybe(Whole(2)),
            "groups": Maybe(ByColumn(Whole(1))),
            "sensitive_apart": YesNo(),
            "p": Maybe(Whole(2)),
            "overlap": Maybe(ColumnName()),
            "cuts": OneOf(("any", "widest")),
            "bins": Whole(2),
            "discretise": OneOf(("frequency", "width")),
        },
        (
            Promised("bucket-size", {"k": Of(("k", "l"))}),
            Promised("slice-diversity", {"l": Of(("l",))}, each=True),
        ),
        protects="links",
        publishers=("slices",),
    ),
    "personal": Declared("shoal.methods.personal:Personal", {}, (), protects="values", publishers=("records",)),
    "m-invariance": Declared(
        "shoal.methods.m_invariance:MInvariance",
        {"m": Whole(2), "column": ColumnName(), "newcomers": OneOf(("mix", "apart"))},
        (Promised("m-uniqueness", {"column": Of(("column",)), "m": Of(("m",))}),),
        private={"id": ColumnName()},
        publishers=("generalize",),
        shape="invariant",
    ),
}

AVERAGES = OneOf(("mean", "median", "convex-median", "mode"))
PUBLISHERS: dict[str, DeclaredPublisher] = {
    "generalize": DeclaredPublisher(
        "shoal.publish.generalize:Generalize",
        {"shape": OneOf(("text", "typed", "classes")), "sets": YesNo()},
        {"text": "text", "typed": "typed", "classes": "classes"},
    ),
    "aggregate": DeclaredPublisher(
        "shoal.publish.aggregate:Aggregate",
        {
            "numeric": OneOf(("mean", "median")),
            "ordinal": OneOf(("median", "convex-median", "mode")),
            "average": Maybe(ByColumn(AVERAGES)),
            "restore_variance": YesNo(),
        },
        {None: "values"},
    ),
    "centres": DeclaredPublisher(
        "shoal.publish.centres:Centres", {"centre": OneOf(("record", "average"))} | STANDARDIZE, {None: "centres"}
    ),
    "buckets": DeclaredPublisher("shoal.publish.buckets:Buckets", {}, {None: "buckets"}, protects="links"),
    "slices": DeclaredPublisher(
        "shoal.publish.slices:Slices",
        {"shape": OneOf(("table", "files"))},
        {"table": "slices", "files": "slices"},
        protects="links",
    ),
    "records": DeclaredPublisher("shoal.publish.records:Records", {}, {None: "records"}, protects="values"),
}

COLUMN_PUBLISHERS: dict[str, DeclaredColumnPublisher] = {
    "aliases": DeclaredColumnPublisher(
        "shoal.personal.aliases:Aliases",
        {
            "column": ColumnName(),
            "choice2": OneOf(("alias", "generalise")),
            "min_support": Whole(1),
            "flatten": Maybe(Real(1)),
        },
        private={"default": Maybe(Whole(1, 3)), "rule": Maybe(ByName(Whole(1, 3)))},
    ),
    "grades": DeclaredColumnPublisher(
        "shoal.personal.grades:Grades",
        {"column": ColumnName(), "quantiles": Maybe(Whole(1)), "variant": OneOf(("linear", "random"))},
        private={"categories": Maybe(Ranges())},
    ),
}
"""Publishers of sensitive columns."""

REFINE: dict[str, Bound] = {"loss": Maybe(OneOf(("sse", "ncp"))), "rounds": Whole(0)}
"""Parameters of the local search after a method."""


METHOD_CLASSES: Registry[Any] = Registry("shoal.methods", {name: one.home for name, one in METHODS.items()}, "a method")
"""The methods themselves, those of other packages too."""
PUBLISHER_CLASSES: Registry[Any] = Registry(
    "shoal.publishers", {name: one.home for name, one in PUBLISHERS.items()}, "a publisher"
)
"""The publishers themselves, those of other packages too."""
COLUMN_PUBLISHER_CLASSES: Registry[Any] = Registry(
    "", {name: one.home for name, one in COLUMN_PUBLISHERS.items()}, "a publisher of a sensitive column"
)
"""The publishers of sensitive columns themselves."""
MODEL_CLASSES: Registry[Any] = Registry(
    "shoal.models",
    {
        "k-anonymity": "shoal.privacy.k_anonymity:KAnonymity",
        "l-diversity": "shoal.privacy.l_diversity:LDiversity",
        "alpha-k": "shoal.privacy.alpha_k:AlphaK",
        "t-closeness": "shoal.privacy.t_closeness:TCloseness",
        "epsilon-m": "shoal.privacy.epsilon_m:EpsilonM",
        "delta-disclosure": "shoal.privacy.delta_disclosure:DeltaDisclosure",
        "beta-likeness": "shoal.privacy.beta_likeness:BetaLikeness",
        "guarding-nodes": "shoal.privacy.guarding_nodes:GuardingNodes",
        "k-map": "shoal.privacy.k_map:KMap",
        "delta-presence": "shoal.privacy.delta_presence:DeltaPresence",
    },
    "a privacy model",
)
"""The privacy models that any method can be asked for, those of other packages too."""
METHOD_MODEL_CLASSES: Registry[Any] = Registry(
    "",
    {
        "m-uniqueness": "shoal.privacy.m_uniqueness:MUniqueness",
        "bucket-size": "shoal.privacy.bucket_size:BucketSize",
        "slice-diversity": "shoal.privacy.slice_diversity:SliceDiversity",
    },
    "a privacy model that methods promise of themselves",
)
"""The privacy models that only a method promises, of itself; the checker has a reading for each, so these are all."""

MANIFEST_MEASURES = {
    "il_total": "shoal.measure.il_total:IlTotal",
    "il": "shoal.measure.il:Il",
    "ncp": "shoal.measure.ncp:Ncp",
    "classes": "shoal.measure.classes:ClassCount",
    "class_size_min": "shoal.measure.class_size_min:SmallestClass",
    "class_size_median": "shoal.measure.class_size_median:MedianClass",
    "class_size_max": "shoal.measure.class_size_max:LargestClass",
    "discernibility": "shoal.measure.discernibility:Discernibility",
    "c_avg": "shoal.measure.c_avg:AverageClassSize",
    "rce": "shoal.measure.rce:ReconstructionError",
    "rce_bound": "shoal.measure.rce_bound:ReconstructionBound",
    "cm": "shoal.measure.cm:ClassificationMetric",
    "prosecutor_max": "shoal.measure.prosecutor_max:HighestRisk",
    "prosecutor_mean": "shoal.measure.prosecutor_mean:AverageRisk",
    "prosecutor_high_share": "shoal.measure.prosecutor_high_share:HighRiskShare",
}
"""The measures that a manifest has, in their order."""
RECEIPT_MEASURES = {
    "sse": "shoal.measure.sse:Sse",
    "sse_percent": "shoal.measure.sse_percent:SsePercent",
    "square_error": "shoal.measure.square_error:SquareError",
    "square_error_all": "shoal.measure.square_error_all:SquareErrorAll",
}
"""The measures that a receipt has besides, in their order."""
FURTHER_MEASURES = {
    "membership_ratio": "shoal.measure.membership_ratio:MembershipRatio",
    "membership_chance": "shoal.measure.membership_chance:MembershipChance",
    "pair_error": "shoal.measure.pair_error:PairError",
    "pair_divergence": "shoal.measure.pair_divergence:PairDivergence",
    "marginal_error": "shoal.measure.marginal_error:MarginalError",
    "marginal_divergence": "shoal.measure.marginal_divergence:MarginalDivergence",
    "correlation_change": "shoal.measure.correlation_change:CorrelationChange",
    "query_error": "shoal.measure.query_error:QueryError",
    "pmse": "shoal.measure.pmse:PropensityScore",
    "il1": "shoal.measure.il1:Il1",
    "il2": "shoal.measure.il2:Il2",
    "il3": "shoal.measure.il3:Il3",
    "il4": "shoal.measure.il4:Il4",
    "il5": "shoal.measure.il5:Il5",
    "il6": "shoal.measure.il6:Il6",
    "dist": "shoal.measure.dist:CategoryDistance",
    "dist_mean": "shoal.measure.dist_mean:MeanCategoryDistance",
    "ctbil": "shoal.measure.ctbil:TableLoss",
    "actbil": "shoal.measure.actbil:MeanTableLoss",
    "ebil": "shoal.measure.ebil:EntropyLoss",
    "proximity_breach": "shoal.measure.proximity_breach:ProximityBreach",
    "divergence_breach": "shoal.measure.divergence_breach:DivergenceBreach",
    "sse_bound": "shoal.measure.sse_bound:SseBound",
    "ncp_bound": "shoal.measure.ncp_bound:NcpBound",
    "journalist_max": "shoal.measure.journalist_max:HighestJournalistRisk",
    "journalist_mean": "shoal.measure.journalist_mean:AverageJournalistRisk",
    "journalist_high_share": "shoal.measure.journalist_high_share:HighJournalistRiskShare",
    "marketer": "shoal.measure.marketer:MarketerRisk",
    "sample_uniques": "shoal.measure.sample_uniques:SampleUniques",
    "population_uniques": "shoal.measure.population_uniques:PopulationUniques",
    "suda": "shoal.measure.suda:Suda",
}
"""The measures that are worked out on request alone."""
MEASURE_CLASSES: Registry[Any] = Registry(
    "shoal.measures", MANIFEST_MEASURES | RECEIPT_MEASURES | FURTHER_MEASURES, "a measure"
)
"""All measures, those of other packages too."""
ATTACK_CLASSES: Registry[Any] = Registry(
    "shoal.attacks",
    {
        "linking": "shoal.attack.linking:Linking",
        "homogeneity": "shoal.attack.homogeneity:Homogeneity",
        "background": "shoal.attack.background:BackgroundKnowledge",
        "skewness": "shoal.attack.skewness:Skewness",
        "proximity": "shoal.attack.proximity:Proximity",
        "divergence": "shoal.attack.divergence:Divergence",
        "membership": "shoal.attack.membership:MembershipAttack",
        "intersection": "shoal.attack.intersection:Intersection",
        "inference": "shoal.attack.inference:Inference",
        "singling-out": "shoal.attack.singling_out:SinglingOut",
        "linkability": "shoal.attack.linkability:Linkability",
    },
    "an attack",
)
"""All attacks, those of other packages too."""


def method_called(name: object) -> Declared | None:
    """What is declared of a method, by its name; a method of another package says it itself."""
    if not isinstance(name, str) or name not in METHOD_CLASSES:
        return None
    found: Declared = METHODS[name] if name in METHODS else METHOD_CLASSES[name].declaration()
    return found


def publisher_called(name: object) -> DeclaredPublisher | None:
    """What is declared of a publisher, by its name; one of another package says it itself."""
    if not isinstance(name, str) or name not in PUBLISHER_CLASSES:
        return None
    found: DeclaredPublisher = PUBLISHERS[name] if name in PUBLISHERS else PUBLISHER_CLASSES[name].declaration()
    return found


def declared_method(name: object) -> Declared:
    """What is declared of a method, which must be known."""
    found = method_called(name)
    if found is None:
        raise ParameterError(Problem("method", "is unknown", did_you_mean(str(name), METHOD_CLASSES)))
    return found


__all__ = [
    "ATTACK_CLASSES", "COLUMN_PUBLISHERS", "COLUMN_PUBLISHER_CLASSES",
    "FURTHER_MEASURES", "K_ANONYMITY", "MANIFEST_MEASURES", "MEASURE_CLASSES", "METHODS", "METHOD_CLASSES",
    "METHOD_MODEL_CLASSES", "MODEL_CLASSES", "PUBLISHERS", "PUBLISHER_CLASSES", "RECEIPT_MEASURES", "REFINE",
    "declared_method", "method_called", "publisher_called",
]  # fmt: skip
