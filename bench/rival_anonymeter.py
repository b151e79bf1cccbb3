"""What Anonymeter says of a published table, run in an environment of its own.

`python rival_anonymeter.py FOLDER` reads `original.csv`, `published.csv`, `control.csv` and `asked.json` in a folder,
and writes the rates of its three attacks as they were counted: successes on the original and on the control group, over
the attacks that were made. (It divides by those that were asked for, and corrects for the size of the control group.)
"""

import json
import sys
import warnings
from pathlib import Path

import anonymeter.evaluators.singling_out_evaluator as inside
import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
asked = json.loads((folder / "asked.json").read_text())
original, published, control = (pd.read_csv(folder / f"{name}.csv") for name in ("original", "published", "control"))
np.random.seed(asked["seeds"][0])  # noqa: NPY002  what it draws with


def counted(evaluator, made=None):
    found = evaluator.results()
    n, n_control = found.n_attacks_ori, found.n_control
    if made is not None:
        n, n_control = len(made), len(inside._evaluate_queries_and_return_successful(evaluator._control, made))
    return {"n": n, "success": found.n_success / max(n, 1), "control": n_control / max(n, 1)}


def singled_out(mode):
    """Predicates of several seeds together, those that were made."""
    made, plain = [], inside._generate_singling_out_queries

    def kept(*args, **kwargs):
        made[:] = plain(*args, **kwargs)
        return made

    inside._generate_singling_out_queries = kept
    found = []
    for seed in asked["seeds"]:
        one = SinglingOutEvaluator(
            ori=original, syn=published, control=control, n_attacks=asked["predicates"], n_cols=asked["columns"],
            max_attempts=20 * asked["predicates"], seed=seed,
        )  # fmt: skip
        found.append(counted(one.evaluate(mode=mode), made))
        if mode == "univariate":  # all that there are
            break
    inside._generate_singling_out_queries = plain
    n = sum(one["n"] for one in found)
    return {"n": n} | {key: sum(one["n"] * one[key] for one in found) / max(n, 1) for key in ("success", "control")}


rates = {f"singling out, {mode}": singled_out(mode) for mode in ("univariate", "multivariate")}
n = min(asked["people"], len(original), len(control))
link = LinkabilityEvaluator(
    ori=original, syn=published, control=control, n_attacks=n, aux_cols=(asked["first"], asked["second"]), n_neighbors=1
)
rates["linkability"] = counted(link.evaluate(n_jobs=1))
for secret in asked["secrets"]:
    known = [name for name in asked["first"] + asked["second"] if name != secret]
    one = InferenceEvaluator(
        ori=original, syn=published, control=control, aux_cols=known, secret=secret, n_attacks=n, regression=False
    )
    rates[f"inference of {secret}"] = counted(one.evaluate(n_jobs=1))
print(json.dumps(rates))
