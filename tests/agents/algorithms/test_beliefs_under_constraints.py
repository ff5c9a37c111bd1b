"""What agents that keep constraints believe of late feedback, from its definition, in every combination."""

from itertools import product

import numpy as np
import pytest
from references import posterior

import agents
import bandit_envs
from agents.beliefs.by_name import BELIEFS
from agents.beliefs.surface import Surface
from agents.objectives.by_name import APART, BY_RULE, CONSTRAINTS
from bandit_envs.problem.feedback import delivery
from bandit_envs.problems import build

EPOCH, RESTARTS, LOOKS = 6, 19, (16, 19)  # rounds; an epoch after the restart has begun at the second look
KEPT = [name for name in CONSTRAINTS if name not in ("none", "safe", BY_RULE, *APART)]  # in epochs
MODELS = {"penalised": {}, "penalised, afresh": {"reuse": False}, "separate": {"models": "separate"}}
WITHIN = {"censored": (5, None)}  # windows of the beliefs that have one
CASES = [(belief, window) for belief in BELIEFS for window in WITHIN.get(belief, (None,))]
PLACES = {"finite": {"num_arms": 8}, "box": {"continuous": True}}


def setting_of(place):
    """Composite's, with contexts and delays, of no trial: the optimum of a box takes seconds."""
    delayed = {"horizon": sum(LOOKS) + 1, "delay": {"law": "poisson", "mean": 4}}
    env = bandit_envs.make(build("composite", {**delayed, **PLACES[place]}))
    return env.get_wrapper_attr("setting")


class Log:
    """Everything that happened to an agent which plays at random, and what it should believe of it."""

    def __init__(self, place, belief, window, constraint, models):
        self.agent = agents.make(
            "gp-agent",
            setting_of(place),
            belief=belief,
            belief_options=None if window is None else {"window": window},
            constraint=constraint,
            constraint_options=models if constraint in APART else {"epoch": EPOCH, **models},
            restart="periodic",
            restart_options={"every": RESTARTS},
        )
        self.agent.reset(0)
        self.belief, self.afresh = belief, "reuse" in models
        self.window = np.inf if window is None else window
        self.pairs, self.came, self.rng = [], {}, np.random.default_rng(1)

    def play(self, rounds):
        setting = self.agent.setting
        for t in range(len(self.pairs), len(self.pairs) + rounds):
            observation = self.rng.choice(setting.contexts)
            if setting.continuous:
                action = self.rng.choice([-0.5, 0.1, 0.8], size=setting.dim)  # some points again and again
            else:
                action = int(self.rng.integers(setting.decisions.num_arms))
            features = setting.context_features(observation[None])[0]
            self.pairs.append(np.concatenate([features, np.ravel(setting.to_point(action))]))
            comes, reward = t + self.rng.poisson(4.0), self.rng.normal()
            self.came[t] = comes, reward, self.rng.normal(size=setting.num_constraints)
            now = np.array([s for s, (arrival, *_) in self.came.items() if arrival == t], dtype=int)
            reward, cost = (np.array([self.came[s][k] for s in now]) for k in (1, 2))
            shown = delivery(t, now, reward, cost.reshape(-1, setting.num_constraints), setting.max_delay)
            self.agent.update(observation, action, 0.0, shown)

    def counted(self):
        """Rounds that the belief is about, and which of them have told their values in time."""
        now, since = len(self.pairs), 0 if self.agent.book.since is None else self.agent.book.since[0]
        begin = now // EPOCH * EPOCH if self.afresh else 0
        in_time = {s for s, (t, *_) in self.came.items() if t < now and t - s <= self.window}
        later = {s for s in range(now) if self.came[s][0] >= begin and begin - s <= self.window}
        current = [s for s in range(since, now) if s >= begin or s in later]
        return current, np.array([s in in_time for s in current], dtype=bool)

    def check_the_reward(self):
        rounds, told = self.counted()
        kept = [self.came[s] for s in np.array(rounds)[told]]
        value, every = np.zeros(len(rounds)), np.ones_like(told)
        reward = np.array([y for _, y, _ in kept])
        cost = np.array([g for _, _, g in kept]).reshape(len(kept), -1)
        value[told] = self.agent.objective.values(np.zeros(len(kept), dtype=int), reward, cost)
        of_mean, of_std = {
            "delivered": (told, told),
            "ridges": (told, told),
            "hallucinated": (told, every),
            "censored": (every, every),
            "fantasised": (every, every),
        }[self.belief]
        noise = self.agent.model.noise_variance
        if self.belief == "fantasised":
            value[~told] = self.drawn(np.array(rounds)[~told], noise)
        self.check(self.agent.belief, self.expected(rounds, value, of_mean, of_std, noise))

    def drawn(self, rounds, noise):
        """The values that the belief has drawn for pending plays of some rounds, mu_P + (S_PP + lambda) c."""
        belief, setting = self.agent.belief, self.agent.setting
        if (shift := belief.shift(0)) is None:
            return []
        centre, nothing = belief.mean_posterior, np.zeros(len(shift.point), dtype=int)
        S = centre.covariance(0, shift.point, shift.point) + noise * np.eye(len(shift.point))
        values = centre.mean_of(nothing, shift.point) + S @ shift.weight
        left = list(zip(shift.point.tolist(), values.tolist(), strict=True))
        found = []
        for s in rounds:
            if setting.continuous:
                x = self.agent.domain.visited.index(self.pairs[s])
            else:
                x = int((setting.decisions.points == self.pairs[s]).all(axis=1).argmax())
            found.append(left.pop(next(i for i, (point, _) in enumerate(left) if point == x))[1])
        assert left == []
        return found

    def check_the_costs(self):
        since = 0 if self.agent.book.since is None else self.agent.book.since[0]
        came = {s: t for s, (t, *_) in self.came.items() if t < len(self.pairs)}
        rounds = [s for s, t in came.items() if s >= since and t - s <= self.window]
        objective, every = self.agent.objective, np.ones(len(rounds), dtype=bool)
        for j, belief in enumerate(objective.costs):
            cost = np.array([self.came[s][2][j] for s in rounds]) / objective.prior.std
            value = (cost - objective.centre[0, 1 + j]) / objective.scale[0, 1 + j]
            std = self.agent.setting.constraint_noise_std / objective.prior.std / objective.scale[0, 1 + j]
            least = self.agent.model.noise_variance if objective.standardize else 1e-6
            self.check(belief, self.expected(rounds, value, every, every, max(std**2, least)))

    def expected(self, rounds, value, of_mean, of_std, noise):
        model, pairs = self.agent.model, np.array(self.pairs)
        gram = model.kernel(np.concatenate([self.where(), pairs]))
        played, here = len(self.where()) + np.array(rounds, dtype=int), np.arange(len(self.where()))
        mean, _ = posterior(gram, noise, played[of_mean], value[of_mean])
        _, covariance = posterior(gram, noise, played[of_std], value[of_std])
        return mean[here], np.sqrt(np.diag(covariance)[here])

    def where(self):
        setting = self.agent.setting
        return np.array(self.pairs[:5]) + 0.01 if setting.continuous else setting.decisions.points

    def check(self, belief, expected):
        if self.agent.setting.continuous:
            found = Surface.of(belief).predict(self.where())
        else:
            contexts = np.arange(self.agent.setting.decisions.num_contexts)
            mean = np.concatenate([belief.mean(np.array([each]))[0] for each in contexts])
            found = mean - belief.prior_mean[0], np.sqrt(belief.std_posterior.variance_at(None)[0])
        np.testing.assert_allclose(found[0], expected[0], atol=1e-7)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-6)


def halved(*factors):
    """Half of a product, in which all values of any two factors meet."""
    return [
        tuple(value for _, value in each)
        for each in product(*map(enumerate, factors))
        if sum(i for i, _ in each) % 2 == 0
    ]


@pytest.mark.parametrize(("place", "case", "constraint", "models"), halved(PLACES, CASES, KEPT, MODELS))
def test_the_belief_is_the_posterior_of_what_came_in_time(place, case, constraint, models):
    belief, window, models = *case, MODELS[models]
    log = Log(place, belief, window, constraint, models)
    for rounds in LOOKS:
        log.play(rounds)
        log.check_the_reward()
        if "models" in models:
            log.check_the_costs()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("place", "case", "constraint", "standardize"), halved(PLACES, CASES, APART, [False, True])
)
def test_so_are_those_of_objectives_that_always_model_costs_apart(place, case, constraint, standardize):
    log = Log(place, *case, constraint, {"standardize": standardize})
    for rounds in LOOKS:
        log.play(rounds)
        log.check_the_reward()
        log.check_the_costs()
