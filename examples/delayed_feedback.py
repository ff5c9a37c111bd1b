"""Late feedback
=============

Late feedback: what pending plays should count as, and when that pays.

First a few rounds by hand: each step's `info` says what feedback was delivered and of which round it is;
pending feedback is nowhere. Then four agents play the same functions, on which feedback is ten rounds late.
GP-UCB conditions on delivered feedback only, so it plays the same arm until the next delivery. GP-BUCB lowers
the std of the arms that it has played. GP-UCB-SDF also counts pending plays as the least possible reward, and
adds the stds of the last m plays to its width.

One sees two tables, for priors of mean 0. With an amplitude of 1, far more than functions with values in
[0, 1] need, GP-BUCB explores enough by itself, and GP-UCB-SDF pays for exploration that is not needed. With
the matched amplitude 0.05, GP-UCB and GP-BUCB settle on lesser peaks in some trials and do not leave them,
which shows in the simple regret, also in delayed_feedback.png; GP-UCB-SDF does leave them. A window of 5
rounds throws most feedback away: the posterior mean then tends to a small share of the function, and the
agent wanders.
"""

from bandit_envs import make
from gpbandits import evaluate

env = make("GPBandit-Delayed-v0", delay={"law": "poisson", "mean": 3}, horizon=8)
env.reset(seed=1)
for arm in (100, 300, 500, 700, 900, 200, 400, 600):
    _, reward, _, _, info = env.step(arm)
    delivered = info["feedback_mask"]
    feedback = zip(info["feedback_step"][delivered], info["feedback_reward"][delivered], strict=True)
    words = [f"round {t} earned {value:.2f}, {info['t'] - t} late" for t, value in feedback]
    print(f"round {info['t']}, arm {arm}: {'; '.join(words) or 'no feedback'} -> reward {reward:.2f}")

competitors = {
    "GP-UCB": ("gp-ucb", {"width": 1.0, "initial": 5}),
    "GP-BUCB": ("gp-bucb", {"width": 1.0, "initial": 5}),
    "GP-UCB-SDF, m = 20": ("gp-ucb-sdf", {"window": 20, "initial": 5}),
    "GP-UCB-SDF, m = 5": ("gp-ucb-sdf", {"window": 5, "initial": 5}),
}
for amplitude in (1.0, 0.05):
    kwargs = {"horizon": 300, "signal_variance": amplitude, "prior_mean": False}
    result = evaluate("GPBandit-Delayed-v0", competitors, trials=20, env_kwargs=kwargs)
    print(f"\nPrior amplitude {amplitude}\n{result.table()}")
result.plot("delayed_feedback.png", metric="simple_regret")
