"""Long-term constraints: path identities, multipliers, and what the agents reach on the two discs."""

import warnings

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

import agents
import bandit_envs
from agents.agent import gp_agent
from agents.model.tie_breaking import argmax_with_ties
from agents.objectives.first_plays import FirstPlays
from agents.objectives.penalised import Penalised
from agents.objectives.penalties import Exponential, LinearDual, Multiplicative, Polynomial
from bandit_envs import Decisions, Problem, Setting
from bandit_envs.environment.vector import BanditVectorEnv
from bandit_envs.laws import Gaussian, KnownFunction, NoNoise, delays
from gpbandits import evaluate

SIDE = np.linspace(0.0, 6.0, 31)
ARMS = np.array(np.meshgrid(SIDE, SIDE)).reshape(2, -1).T
DISCS = KnownFunction(lambda x: np.sin(x[:, 0]) * np.sin(x[:, 1]) + 0.95)
HALF = KnownFunction(lambda x: x[:, 0] - 5.0)
LINE = KnownFunction(lambda x: x[:, 1] - x[:, 0])
BOTH = ("gp-ucb-noiseless-constraints", "gp-ucb-noisy-constraints")
EPOCH, HORIZON = 10, 95


def discs(noise=0.0, constraints=(DISCS,), horizon=HORIZON, **laws):
    return Problem(
        Decisions(ARMS),
        KnownFunction(lambda x: -np.sin(x[:, 0]) - x[:, 1]),
        Matern(2.0, nu=2.5),
        noise=Gaussian(0.1),
        constraints=constraints,
        constraint_noise=Gaussian(noise) if noise else NoNoise(),
        horizon=horizon,
        **laws,
    )


class Run:
    """An agent's run on B trials, with the multipliers after every round and all observed costs."""

    def __init__(self, problem, name, trials=3, **options):
        env = BanditVectorEnv(problem, trials, autoreset_mode="Disabled")
        observation, _ = env.reset(seed=4)
        self.agent = agents.make(name, env, num_trials=trials, epoch=EPOCH, **options)
        self.agent.reset(range(trials))
        multipliers, observed, delivered, actions = [], [], [], []
        for _ in range(problem.horizon):
            action = self.agent.act(observation)
            actions.append(action)
            observation, reward, _, _, info = env.step(action)
            self.agent.update(observation, action, reward, info)
            multipliers.append(self.agent.objective.multipliers.value.copy())
            observed.append(info["feedback_cost"].sum(axis=1))
            delivered.append(info["feedback_mask"].sum(axis=1))
        self.actions = np.stack(actions, axis=1)
        self.multiplier = np.stack(multipliers, axis=1)  # (B, T, C) after each round
        self.observed = np.stack(observed, axis=1)  # (B, T, C) sums of what came
        self.delivered = np.stack(delivered, axis=1)  # (B, T)

    def epoch_means(self):
        whole = HORIZON // EPOCH
        shape = len(self.observed), whole, EPOCH
        sums = self.observed[:, : whole * EPOCH].reshape(*shape, -1).sum(axis=2)
        counts = self.delivered[:, : whole * EPOCH].reshape(shape).sum(axis=2)
        return sums / np.maximum(counts, 1)[:, :, None], counts

    def after_epochs(self):
        return self.multiplier[:, EPOCH - 1 :: EPOCH][:, : HORIZON // EPOCH]


@pytest.mark.parametrize(
    "options", [{}, {"reuse": False}, {"inner": "thompson"}, {"models": "separate"}], ids=str
)
def test_algorithm_3_moves_its_multipliers_by_the_mean_cost_of_each_epoch(options):
    run = Run(discs(0.1), "gp-ucb-noisy-constraints", step=0.7, **options)
    kappa = np.zeros_like(run.multiplier[:, 0])
    for mean, after in zip(
        *(np.swapaxes(x, 0, 1) for x in (run.epoch_means()[0], run.after_epochs())), strict=True
    ):
        kappa = np.maximum(kappa + 0.7 * mean, 0.0)
        np.testing.assert_allclose(after, kappa, atol=1e-12)
    total = run.observed[:, : HORIZON // EPOCH * EPOCH].sum(axis=1)
    assert (total <= EPOCH * run.after_epochs()[:, -1] / 0.7 + 1e-9).all()  # on every path


@pytest.mark.parametrize("options", [{}, {"reuse": False}, {"psi": "polynomial"}], ids=str)
def test_algorithm_2_multiplies_by_psi_of_the_mean_cost_and_never_decreases(options):
    run = Run(discs(), "gp-ucb-noiseless-constraints", **options)
    psi = Polynomial() if options.get("psi") else Exponential()
    expected = np.cumsum(psi.log(run.epoch_means()[0]), axis=1)
    np.testing.assert_allclose(run.after_epochs(), expected, atol=1e-12)
    assert (np.diff(run.multiplier, axis=1) >= 0).all()
    total = run.observed[:, : HORIZON // EPOCH * EPOCH].sum(axis=1)
    log_kappa = run.after_epochs()[:, -1]
    inverse = np.expm1(log_kappa / 2) if options.get("psi") else log_kappa  # of psi for x > 0, c = 1, n = 2
    assert (total <= EPOCH * (HORIZON // EPOCH) * inverse + 1e-9).all()


def test_nothing_is_updated_after_a_partial_last_epoch():
    run = Run(discs(0.1), "gp-ucb-noisy-constraints")
    np.testing.assert_array_equal(run.multiplier[:, -1], run.multiplier[:, HORIZON // EPOCH * EPOCH - 1])


def test_the_dual_returns_to_zero_where_all_is_feasible_and_the_product_stays():
    feasible = (KnownFunction(lambda x: 0.0 * x[:, 0] - 0.5),)
    assert (Run(discs(constraints=feasible), BOTH[1]).multiplier == 0).all()
    assert (Run(discs(constraints=feasible), BOTH[0]).multiplier == 0).all()  # of log kappa
    kappa = np.array([[0.6]])
    for _ in range(3):
        kappa = LinearDual(0.5).moved(kappa, np.array([[-0.5]]))
    assert kappa == 0.0


@pytest.mark.parametrize("initial", [0, 5])
def test_with_step_0_and_reuse_it_is_unconstrained_igp_ucb_at_the_same_delta(initial):
    shared = {"noise_variance": 0.01, "rkhs_bound": 1.0, "initial": initial}
    epochs = -(-HORIZON // EPOCH)
    specs = {
        "dual": (BOTH[1], {**shared, "step": 0.0, "epoch": EPOCH, "delta": 0.2, "standardize": False}),
        "igp": ("igp-ucb", {**shared, "delta": 0.2 / (2 * epochs)}),
    }
    plays = evaluate(discs(0.1), specs, trials=3).actions
    np.testing.assert_array_equal(plays["dual"], plays["igp"])


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("delay", [0, 3, 12])
def test_separate_models_are_in_units_of_the_first_plays_however_late_these_come(name, delay):
    problem = discs(constraints=(DISCS, HALF), delay=delays.Constant(delay))
    run = Run(problem, name, models="separate")
    objective, agent = run.agent.objective, run.agent
    values = objective.first_plays.values  # (B, 3, 5)
    np.testing.assert_allclose(objective.centre, values.mean(axis=2))
    np.testing.assert_allclose(objective.scale, values.std(axis=2, ddof=1))
    np.testing.assert_allclose(agent.model.noise_std, 0.1 / objective.scale[:, 0])
    for j, belief in enumerate(objective.costs):  # seen without noise
        for i in range(3):
            point, plays, total = belief.centre.statistics(i)
            assert plays.sum() == HORIZON - delay
            cost = (DISCS, HALF)[j].function(ARMS[point])
            expected = plays * (cost - objective.centre[i, 1 + j]) / objective.scale[i, 1 + j]
            np.testing.assert_allclose(total, expected, atol=1e-9)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("reuse", [True, False])
def test_several_constraints_and_delays_need_no_special_code(name, reuse):
    problem = discs(0.0, constraints=(DISCS, HALF, LINE), delay=delays.Poisson(3.0))
    run = Run(problem, name, reuse=reuse)
    assert run.multiplier.shape == (3, HORIZON, 3)
    mean, counts = run.epoch_means()
    assert (counts[:, 0] < EPOCH).all()  # some are pending
    penalty = run.agent.objective.multipliers.penalty
    multiplier = penalty.start(3, 3)
    for i in range(HORIZON // EPOCH):
        multiplier = penalty.moved(multiplier, mean[:, i])
        np.testing.assert_allclose(run.after_epochs()[:, i], multiplier, atol=1e-12)


@pytest.mark.parametrize("name", BOTH)
def test_reuse_gives_all_plays_the_values_they_have_under_the_new_multipliers(name):
    run = Run(discs(), name)
    objective, belief = run.agent.objective, run.agent.belief
    assert isinstance(objective, Penalised)
    for i in range(3):
        point, plays, total = belief.centre.statistics(i)
        f, h = objective.reward_sum[i, point], objective.cost_sum[i][:, point]
        value = objective.weights.reward[i] * f - objective.weights.cost[i] @ h
        np.testing.assert_allclose(
            total, (value - objective.centre[i] * plays) / objective.scale[i], atol=1e-10
        )
        weight = np.append(objective.weights.reward[i], -objective.weights.cost[i])
        first = weight @ objective.first_plays.values[i]
        np.testing.assert_allclose(objective.centre[i], first.mean())
        np.testing.assert_allclose(objective.scale[i], first.std(ddof=1))


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e300])
def test_centre_and_scale_are_those_of_the_first_plays_at_any_size(size):
    first = FirstPlays(3, 2, 4)
    first.receive(
        np.zeros(5, dtype=int), np.arange(5), size * np.array([[1, 0], [2, 2], [6, 0], [3, 4], [9, 9]])
    )
    first.receive(np.ones(2, dtype=int), np.arange(2), size * np.array([[1.0, 0.0], [1.0, 0.0]]))
    centre, scale = first.units(np.array([[1.0, -0.5]] * 3))
    value = np.array([1.0, 1.0, 6.0, 1.0])  # the fifth play is none of the first four
    np.testing.assert_allclose(centre, [size * value.mean(), 0.0, 0.0])
    np.testing.assert_allclose(scale, [size * value.std(ddof=1), 1.0, 1.0])  # two equal values tell no scale


def test_a_fresh_epoch_opens_at_the_best_mean_of_the_last_and_counts_its_own_rounds():
    run = Run(discs(), BOTH[0], reuse=False)
    assert (run.agent.t == HORIZON % EPOCH + 1).all()
    assert run.agent.belief.centre.count.sum(axis=1).max() == HORIZON % EPOCH


@pytest.mark.parametrize("name", BOTH)
def test_the_first_plays_are_uniform_once_a_trial_and_not_once_an_epoch(name, monkeypatch):
    uniform = []

    def watch(scores, *rest):
        uniform.append(bool((np.ptp(scores, axis=1) == 0).all()))
        return argmax_with_ties(scores, *rest)

    monkeypatch.setattr(gp_agent, "argmax_with_ties", watch)
    Run(discs(), name, trials=2, reuse=False)
    assert uniform == [t < 5 for t in range(HORIZON)]


@pytest.mark.parametrize(("name", "weight"), [(BOTH[0], 0.5), (BOTH[1], 1.0)])
def test_the_first_epoch_has_the_noise_of_the_weighted_objective(name, weight):
    agent = agents.make(name, discs(), num_trials=2, initial=0)
    agent.reset([0, 1])
    np.testing.assert_allclose(agent.rule.width.noise_std, [weight * 0.1] * 2)  # kappa^1 = 1, and 0


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("given", [{"centre": -2.5}, {"scale": 3.0}, {"centre": -2.5, "scale": 3.0}], ids=str)
@pytest.mark.parametrize("reuse", [True, False])
def test_centre_and_scale_of_the_objective_may_be_the_users(name, given, reuse):
    agent = Run(discs(), name, reuse=reuse, **given).agent
    objective, belief = agent.objective, agent.belief
    weight = np.column_stack([objective.weights.reward, -objective.weights.cost])
    found = objective.first_plays.units(weight)
    np.testing.assert_array_equal(objective.centre, given.get("centre", found.centre))
    np.testing.assert_array_equal(objective.scale, given.get("scale", found.scale))
    for i in range(3):
        point, plays, total = belief.centre.statistics(i)
        f, h = objective.reward_sum[i, point], objective.cost_sum[i][:, point]
        if reuse:
            value = objective.weights.reward[i] * f - objective.weights.cost[i] @ h
            expected = (value - objective.centre[i] * plays) / objective.scale[i]
            np.testing.assert_allclose(total, expected, atol=1e-10)


@pytest.mark.parametrize("given", [{"centre": [-3.0, 1.0], "scale": [2.0, 0.5]}, {"scale": 2.0}], ids=str)
def test_centres_and_scales_of_separate_models_may_be_the_users(given):
    objective = Run(discs(), BOTH[1], models="separate", **given).agent.objective
    values = objective.first_plays.values
    np.testing.assert_allclose(
        objective.centre, np.broadcast_to(given.get("centre", values.mean(axis=2)), (3, 2))
    )
    np.testing.assert_allclose(objective.scale, np.broadcast_to(given["scale"], (3, 2)))
    belief = objective.costs[0]
    for i in range(3):
        point, plays, total = belief.centre.statistics(i)
        expected = plays * (DISCS.function(ARMS[point]) - objective.centre[i, 1]) / objective.scale[i, 1]
        np.testing.assert_allclose(total, expected, atol=1e-9)


@pytest.mark.parametrize("name", BOTH)
def test_the_users_centre_and_scale_0_and_1_are_the_literal_reading(name):
    specs = {"given": (name, {"centre": 0.0, "scale": 1.0}), "literal": (name, {"standardize": False})}
    plays = evaluate(discs(), specs, trials=2).actions
    np.testing.assert_array_equal(plays["given"], plays["literal"])


@pytest.mark.parametrize(
    ("published", "given", "assumed"),
    [(None, None, 0.3), (0.2, None, 0.2), (0.2, 0.4, 0.4), (None, 0.0, 0.0)],
)
@pytest.mark.parametrize("models", ["penalised", "separate"])
def test_the_noise_on_costs_is_given_or_published_or_that_of_the_reward(published, given, assumed, models):
    keywords = {"noise_std": 0.3, "num_constraints": 1, "constraint_noise_std": published}
    setting = Setting(arms=ARMS, kernel=Matern(1.0, nu=2.5), **keywords)
    agent = agents.make(BOTH[1], setting, models=models, constraint_noise_std=given)
    agent.reset(0)
    if models == "separate":
        assert agent.objective.cost_noise == assumed
        return
    agent.objective.multipliers.value[:] = 2.0
    agent.objective.multipliers.weights = LinearDual(0.5).weights(np.array([[2.0]]))
    agent._revise(agent.objective.begin())
    np.testing.assert_allclose(agent.model.noise_std, np.sqrt(0.09 + 4 * assumed**2) / 3.0)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("epoch", [1, 2, 4])
def test_short_epochs_have_as_many_first_plays_as_rounds(name, epoch):
    problem = discs(horizon=20)
    agent = agents.make(name, problem, num_trials=2, epoch=epoch)
    assert agent.model.initial == epoch
    result = evaluate(problem, {"it": (name, {"epoch": epoch})}, trials=2)
    assert np.isfinite(result.regret["it"]).all()


EVERY_NAME = (*BOTH, "bandit-oco", "admmbo", "constrained-ei")
EVERY = {
    **{name: (name, {}) for name in EVERY_NAME},
    **{f"{name}, restart": (name, {"reuse": False}) for name in BOTH},
    **{f"{name}, separate": (name, {"models": "separate"}) for name in BOTH},
    **{f"{name}, Thompson": (name, {"inner": "thompson"}) for name in BOTH},
}


def in_contexts(horizon=120, **laws):
    """The feasible arms, 0.2 about the context, move with it; the reward alone would have all play arm 1."""
    line = np.linspace(0.0, 1.0, 25)[:, None]
    decisions = Decisions(line, contexts=np.array([[0.2], [0.5], [0.8]]))
    costs = (lambda x: x[:, 1] - x[:, 0] - 0.2, lambda x: x[:, 0] - 0.2 - x[:, 1], lambda x: -x[:, 1])
    return Problem(
        decisions,
        KnownFunction(lambda x: 2.0 * x[:, 1]),
        Matern(0.3, nu=2.5),
        noise=Gaussian(0.05),
        constraints=tuple(KnownFunction(cost) for cost in costs),
        horizon=horizon,
        **laws,
    )


@pytest.mark.parametrize("spec", EVERY.values(), ids=EVERY.keys())
@pytest.mark.parametrize("laws", [{}, {"delay": delays.Poisson(3.0), "max_delay": 8}], ids=["now", "delayed"])
def test_three_constraints_in_contexts_are_learnt_with_and_without_delays(spec, laws):
    result = evaluate(in_contexts(**laws), {"it": spec, "free": "igp-ucb"}, trials=3)
    assert result.costs["it"].shape == (3, 120, 3)
    violation = {label: curve[:, -1].mean() for label, curve in result.curves("average-violation").items()}
    hard = {label: np.maximum(cost, 0.0)[:, 60:].mean() for label, cost in result.costs.items()}
    assert violation["it"] < 0.6 * violation["free"]
    assert hard["it"] < hard["free"]  # Algorithm 3 mixes arms above and below zero, so by less


@pytest.mark.parametrize("name", EVERY_NAME)
def test_recommendations_in_a_context_are_made_with_constraints(name):
    env = bandit_envs.make(in_contexts(horizon=60))
    observation, _ = env.reset(seed=0)
    agent = agents.make(name, env)
    agent.reset(0)
    for _ in range(60):
        action = agent.act(observation)
        observation, reward, _, _, info = env.step(action)
        agent.update(observation, action, reward, info)
    best = agent.recommend(observation)
    assert 0 <= best.action < 25
    assert np.shape(best.mean) == np.shape(best.std) == ()


def test_weights_are_the_multipliers_over_one_plus_their_sum_without_overflow():
    log_kappa = np.array([[1.0, 2.0], [900.0, -3.0], [-2.0, -5.0]])
    reward, cost = Multiplicative().weights(log_kappa)
    kappa = np.exp(log_kappa[[0, 2]])
    np.testing.assert_allclose(reward[[0, 2]], 1 / (1 + kappa.sum(axis=1)))
    np.testing.assert_allclose(cost[[0, 2]], kappa / (1 + kappa.sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(cost[1], [1.0, 0.0], atol=1e-300)
    np.testing.assert_allclose(reward + cost.sum(axis=1), 1.0)


def test_psi_is_one_where_feasible_and_convex_beyond():
    x = np.array([-3.0, 0.0, 0.5, 2.0])
    np.testing.assert_allclose(Exponential(2.0).excess(x), [0, 0, np.expm1(1.0), np.expm1(4.0)])
    np.testing.assert_allclose(Polynomial(1.0, 3.0).excess(x), [0, 0, 1.5**3 - 1, 26.0])
    with pytest.warns(RuntimeWarning, match="psi overflows at a cost of 1000"):
        assert np.isfinite(Exponential().excess(np.array([1000.0]))).all()


def test_noise_grows_with_the_multipliers_in_algorithm_3_alone():
    kappa = np.array([[3.0, 4.0]])
    np.testing.assert_allclose(LinearDual(0.5).noise_std(kappa, 0.2, 0.2), np.sqrt(26) * 0.2)
    np.testing.assert_allclose(LinearDual(0.5).noise_std(kappa, 0.3, 0.2), np.sqrt(0.09 + 25 * 0.04))
    np.testing.assert_allclose(Multiplicative().noise_std(kappa, 0.2, 0.0), 0.2)


@pytest.mark.parametrize(("name", "noise"), [(BOTH[0], 0.0), (BOTH[1], 0.1)])
def test_regret_and_violation_fall_on_the_two_discs(name, noise):
    problem = discs(noise, horizon=350)
    specs = {"it": name, "restart": (name, {"reuse": False}), "unconstrained": "igp-ucb"}
    result = evaluate(problem, specs, trials=8)
    rounds = np.arange(1, 351)
    violation = {
        label: (np.maximum(np.cumsum(cost[:, :, 0], axis=1), 0) / rounds).mean(axis=0)
        for label, cost in result.costs.items()
    }
    regret = np.abs(result.regret["it"]).mean(axis=0) / rounds
    assert violation["it"][349] < violation["it"][199] < violation["it"][99]
    assert violation["it"][349] < 0.15 < 0.8 < violation["unconstrained"][349]
    assert violation["it"][349] < violation["restart"][349]
    assert regret[349] < 0.6


BAD = {
    "n": (
        lambda: agents.make(BOTH[0], SETTING, psi="polynomial", psi_options={"n": 0.5}),
        "n must be at least 1",
    ),
    "psi": (lambda: agents.make(BOTH[0], SETTING, psi="log"), "psi must be one of exponential, polynomial"),
    "step": (lambda: agents.make(BOTH[1], SETTING, step=-1.0), "step must be 0 or positive, got -1"),
    "epoch": (lambda: agents.make(BOTH[1], SETTING, epoch=0), "epoch"),
    "inner": (lambda: agents.make(BOTH[1], SETTING, inner="ei"), "inner must be ucb or thompson"),
    "no costs": (
        lambda: told_nothing_of_costs(agents.make(BOTH[1], SETTING)),
        r"feedback_cost.* must have 1",
    ),
    "no costs, separate": (
        lambda: told_nothing_of_costs(agents.make(BOTH[1], SETTING, models="separate")),
        r"feedback_cost.* must have 1",
    ),
    "half an epoch": (
        lambda: agents.make(BOTH[1], SETTING, epoch=2.5),
        "epoch must be an integer .* got 2.5",
    ),
    "half a play": (lambda: agents.make(BOTH[1], SETTING, initial=2.5), "initial must be an integer .* 2.5"),
    "half a play of EI": (lambda: agents.make("gp-ei", SETTING, initial=0.5), "initial must be an integer"),
    "learning": (lambda: agents.make(BOTH[0], SETTING, refit_every=5), "refit_every must be left out"),
    "prior mean": (lambda: agents.make(BOTH[0], SETTING, prior_mean=1.0), "prior_mean must be left out"),
    "centre": (
        lambda: agents.make(BOTH[0], SETTING, centre=np.nan),
        "centre must be a finite number, got nan",
    ),
    "centres": (
        lambda: agents.make(BOTH[0], SETTING, centre=[1.0, 2.0]),
        "centre must be a finite number, got",
    ),
    "scale": (lambda: agents.make(BOTH[0], SETTING, scale=0.0), "scale must be positive, got 0.0"),
    "scales": (
        lambda: agents.make(BOTH[0], SETTING, scale=[1.0], models="separate"),
        "scale must be a finite number or 2 of them, reward first",
    ),
    "noise": (
        lambda: agents.make(BOTH[1], SETTING, constraint_noise_std=-1),
        "constraint_noise_std must not",
    ),
    "initial": (lambda: agents.make(BOTH[1], SETTING, initial=30), "initial must lie in 0..epoch = 20"),
}
SETTING = Setting(arms=ARMS, kernel=Matern(1.0, nu=2.5), num_constraints=1)


def told_nothing_of_costs(agent):
    agent.reset(0)
    info = {"feedback_mask": np.array([True]), "feedback_step": np.array([0]), "feedback_reward": np.ones(1)}
    agent.update(np.zeros(1), agent.act(np.zeros(1)), 1.0, info)


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_warnings_for_a_linear_psi_and_for_algorithm_2_under_constraint_noise():
    with pytest.warns(UserWarning, match="n = 1 has no sublinear violation"):
        agents.make(BOTH[0], SETTING, psi="polynomial", psi_options={"n": 1})
    noisy = Setting(arms=ARMS, kernel=Matern(1.0, nu=2.5), num_constraints=1, constraint_noise_std=0.1)
    with pytest.warns(UserWarning, match="gp-ucb-noisy-constraints"):
        agents.make(BOTH[0], noisy)
    with pytest.warns(UserWarning, match="gp-ucb-noisy-constraints"):
        agents.make(BOTH[0], SETTING, constraint_noise_std=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agents.make(BOTH[1], noisy)
        agents.make(BOTH[0], noisy, constraint_noise_std=0.0)
