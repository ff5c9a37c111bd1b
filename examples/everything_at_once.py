"""Everything at once
==================

Everything at once: contexts, feedback 30 rounds late, a constraint, and functions that change twice.

`agents.make("gp-agent", env, rule="ucb")` takes the parts that the setting calls for; any can be named
instead, by a string, without new code. Here the agent with all its parts plays against the same agent less
one part.

One sees that each part is worth having: without the constraint the agent earns more, by violating; without
the restart it uses plays from before the changes; without contexts it takes their differences for noise,
and sees changes where there are none; and without counting pending plays it plays the same arm until
the next delivery. Read the regret, which is to the best feasible arm, with the violation.
docs/field.md has 30 trials of it.
"""

import agents
from bandit_envs import make
from gpbandits import evaluate, threads

LATE = {"law": "constant", "rounds": 30}
env = make("GPBandit-Composite-v0", horizon=900, delay=LATE)
observation, _ = env.reset(seed=0)
agent = agents.make("gp-agent", env, rule="ucb")
agent.reset(0)
with threads(1):
    for _ in range(100):
        action = agent.act(observation)
        following, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
        observation = following
best = agent.recommend(observation)
print(f"after 100 rounds, in the context {observation[0]:.2f}: play {best.point}\n")

less = {
    "the constraint": {"constraint": "none"},
    "contexts": {"context": False},
    "pending feedback": {"belief": "delivered"},
    "the restart": {"restart": "never"},
}
competitors = {
    "all parts": ("gp-agent", {"rule": "ucb"}),
    **{f"less {part}": ("gp-agent", less[part]) for part in less},
}
result = evaluate(
    "GPBandit-Composite-v0", competitors, trials=6, seed=9000, env_kwargs={"horizon": 900, "delay": LATE}
)
print(result.table(baseline="all parts"))
print(result.detection_table())
result.plot("everything_at_once.png", metric="violation")
