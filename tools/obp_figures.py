"""Write docs/results/obp.json: what obp 0.4.1 estimates from its sample logs, which our tests compare with.

Run in an environment with obp 0.4.1 and what it imports (torch, pandas, scikit-learn), without this package:
python tools/obp_figures.py docs/results/obp.json
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import obp
from obp.ope import (
    DoublyRobust,
    InverseProbabilityWeighting,
    ReplayMethod,
    SelfNormalizedInverseProbabilityWeighting,
    SwitchDoublyRobust,
)
from obp.policy import BernoulliTS

CAMPAIGNS = {"all": 80, "men": 34, "women": 46}
POSITIONS = 3
DRAWS = 20_000  # of the simulation that gives the probabilities of Thompson sampling
TAUS = (1.0, 5.0)


def columns_of(policy, campaign):
    """Return items, positions from 0, clicks and propensities in order of time."""
    path = Path(obp.__file__).parent / "dataset" / "obd" / policy / campaign / f"{campaign}.csv"
    with open(path, newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["timestamp"])
    names = ("item_id", "position", "click", "propensity_score")
    item, position, click, propensity = np.array([[float(row[name]) for name in names] for row in rows]).T
    return item.astype(int), position.astype(int) - 1, click, propensity


def rates(item, position, click, count):
    """Return the click rate of each item and position, drawn towards 0.01 by ten rows: any model will do."""
    clicks, shown = np.zeros((2, count, POSITIONS))
    np.add.at(clicks, (item, position), click)
    np.add.at(shown, (item, position), 1.0)
    return (clicks + 0.1) / (shown + 10.0)


def targets(campaign, count):
    """Return the probability of each item at each position, (count, 3), of three policies."""
    thompson = BernoulliTS(
        n_actions=count, len_list=POSITIONS, is_zozotown_prior=True, campaign=campaign, random_state=0
    )
    item, _, click, _ = columns_of("random", campaign)
    always = np.zeros((count, POSITIONS))
    always[int(np.bincount(item, click).argmax())] = 1.0
    simulated = thompson.compute_batch_action_dist(n_rounds=1, n_sim=DRAWS)[0]
    return {"bts": simulated, "uniform": np.full((count, POSITIONS), 1.0 / count), "one item": always}


def estimates(log, target, count):
    """Return the estimates of obp by name."""
    item, position, click, propensity = log
    n = len(item)
    dist = np.tile(target, (n, 1, 1))
    model = np.tile(rates(item, position, click, count), (n, 1, 1))
    given = {"reward": click, "action": item, "position": position, "action_dist": dist}
    weighted = {**given, "pscore": propensity}
    with_model = {**weighted, "estimated_rewards_by_reg_model": model}
    found = {
        "ips": InverseProbabilityWeighting().estimate_policy_value(**weighted),
        "snips": SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**weighted),
        "dr": DoublyRobust().estimate_policy_value(**with_model),
    }
    for tau in TAUS:
        found[f"switch {tau:g}"] = SwitchDoublyRobust(tau=tau).estimate_policy_value(**with_model)
    if set(np.unique(target)) <= {0.0, 1.0}:
        found["replay"] = ReplayMethod().estimate_policy_value(**given)
    return {name: float(value) for name, value in found.items()}


def main(path):
    """Write the figures of all campaigns."""
    figures = {"obp": obp.__version__, "campaigns": {}}
    for campaign, count in CAMPAIGNS.items():
        chosen = targets(campaign, count)
        own = {"bts": chosen["bts"].tolist(), "item": int(chosen["one item"][:, 0].argmax()), "estimates": {}}
        for policy in ("random", "bts"):
            log = columns_of(policy, campaign)
            own["estimates"][policy] = {name: estimates(log, each, count) for name, each in chosen.items()}
        figures["campaigns"][campaign] = own
    Path(path).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
