"""Sample logs of the Open Bandit Dataset: clicks on items of a fashion shop (Saito et al. 2020).

Two policies chose items for three positions of a page: "random" uniformly, and "bts" by Thompson sampling of
Bernoulli click rates, whose propensities were computed by simulation. The samples have 10,000 rows of each
policy and campaign. They are read from the wheel of obp 0.4.1, see `bandit_envs.data.files`.
"""

import csv
import io

import numpy as np

from bandit_envs.basics.arguments import require_choice
from bandit_envs.data.files import member
from gpbandits.logs.log import PlayLog

POLICIES = ("random", "bts")
CAMPAIGNS = {"all": 80, "men": 34, "women": 46}  # with their number of items


def open_bandit_log(policy: str, campaign: str = "all") -> PlayLog:
    """Return a log whose context is the position, 0 to 2, and whose reward is the click, in order of time.

    Args:
        policy: "random" or "bts".
        campaign: "all", "men" or "women".
    """
    require_choice("policy", policy, POLICIES)
    require_choice("campaign", campaign, CAMPAIGNS)
    content = member("obp", f"obp/dataset/obd/{policy}/{campaign}/{campaign}.csv").decode()
    rows = sorted(csv.DictReader(io.StringIO(content)), key=lambda row: row["timestamp"])
    columns = ("item_id", "click", "propensity_score", "position")
    item, click, propensity, position = np.array([[float(row[name]) for name in columns] for row in rows]).T
    return PlayLog(
        action=item.astype(np.int64),
        reward=click,
        propensity=propensity,
        actions=CAMPAIGNS[campaign],
        context=position[:, None] - 1.0,
    )
