"""Simple regret is that of the best feasible, delivered play of the round's context, segment and window."""

import dataclasses

import numpy as np
import pytest
from agent_cases import GAUSSIAN
from cases import by_hand
from players import FirstArm, UniformArms
from synthetic import result as synthetic_result

import agents
from bandit_envs import Decisions, Setting, make
from bandit_envs.data import find
from bandit_envs.environment.registration import IDS
from bandit_envs.laws import NoNoise, RecordedValues
from bandit_envs.laws.availability import BernoulliAvailability
from bandit_envs.laws.drift import OrnsteinUhlenbeck, Replay
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import data_files
from gpbandits.evaluation import Result, evaluate, trace, trial_seeds
from gpbandits.evaluation import record as records
from gpbandits.evaluation.measures import metrics_of
from gpbandits.evaluation.tables import summary
from gpbandits.evaluation.truth import learnable

HORIZON = 30
ROUNDS = [1, 4, 11, 12, 23, HORIZON]
EVERYTHING = {
    "num_arms": 12,
    "num_contexts": 3,
    "delay": {"law": "poisson", "mean": 3, "lost": 0.1},
    "constraints": {"law": "gp", "quantile": 0.3},
    "change_points": [7, 20],
    "availability": {"law": "bernoulli", "p": 0.7},
}
BUDGET = {"budget": {"law": "gp", "budget": 9}}
CASES = {env_id: (env_id, {}) for env_id, problem in IDS.items() if all(map(find, data_files(problem)))} | {
    "everything": ("GPBandit-Composite-v0", EVERYTHING),
    "everything, drifting": (
        "GPBandit-Composite-v0",
        EVERYTHING | {"drift": {"law": "ornstein-uhlenbeck", "epsilon": 0.05}},
    ),
    "everything, with a budget": ("GPBandit-Composite-v0", EVERYTHING | BUDGET),
}


def keywords_of(case):
    env_id, keywords = CASES[case]
    return env_id, {"horizon": HORIZON} | keywords


def by_definition(env_id, keywords, actions, seed, played, window=np.inf):
    """Simple regret, play by play and round by round, of feedback that took at most a window, (T,)."""
    env = make(env_id, **keywords)
    env.reset(seed=seed)
    context, worst = env.unwrapped.simulator.trials[0].context, env.get_wrapper_attr("worst_regret")
    absent, times = env.get_wrapper_attr("absent_gain"), env.get_wrapper_attr("setting").query_times
    oracles = [env.step(action)[4]["oracle"] for action in actions[:played]]
    curve = []
    for now, oracle in enumerate(oracles):
        counted = [
            each["regret"] + absent[t]
            for t, each in enumerate(oracles[: now + 1])
            if 0 <= each["delay"] <= now - t
            and (each["delay"] if times is None else (each["delay"] + 1) * times[1]) <= window + 1e-6
            and (each["cost_mean"] <= 0).all()
            and (context[t], each["segment"]) == (context[now], oracle["segment"])
        ]
        curve.append(min(counted, default=worst[now] + absent[now]))
    return np.array(curve + curve[-1:] * (len(actions) - played))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES)
def test_it_is_what_the_definition_says_in_whole_records_and_in_thinned_ones(case, monkeypatch):
    env_id, keywords = keywords_of(case)
    run = {"trials": 2, "env_kwargs": keywords}
    whole = evaluate(env_id, ["random"], **run)
    record = whole.records["random"]
    for i in range(2):
        seed, played = trial_seeds(0, i)[0], int(whole.played["random"][i])
        expected = by_definition(env_id, keywords, record.action[i], seed, played)
        expected = np.full_like(expected, np.nan) if "drifting" in case else expected
        np.testing.assert_array_equal(record.simple_regret[i], expected)
    # Of the feasible none is better than the best, but for rounding.
    assert not (record.simple_regret < -1e-9).any()
    for module in (trace, records):
        monkeypatch.setattr(module, "BLOCK", 7)
    thinned = evaluate(env_id, ["random"], checkpoints=ROUNDS, **run).records["random"]
    np.testing.assert_array_equal(thinned.simple_regret, record.simple_regret[:, np.array(ROUNDS) - 1])


ARMS = {"decisions": Decisions(unit_grid(3)), "noise": NoNoise(), "horizon": 40}


class LastArm(FirstArm):
    def act(self, observation):
        return 2


def test_a_replayed_function_is_measured_against_the_one_in_force():
    rows = RecordedValues(np.array([[0.0, 0.5, 1.0], [1.0, 0.7, 0.4]]))
    result = evaluate(by_hand(reward=rows, drift=Replay(20), **ARMS), {"last": LastArm}, trials=2)
    np.testing.assert_allclose(result.simple_regret["last"], [np.repeat([0.0, 0.6], 20)] * 2, atol=1e-15)
    at = result.at([20, 40]).simple_regret["last"]
    np.testing.assert_allclose(at, [[0.0, 0.6]] * 2, atol=1e-15)


def test_where_functions_drift_no_table_or_figure_has_simple_regret(tmp_path):
    drifting = by_hand(drift=OrnsteinUhlenbeck(0.1), horizon=20)
    result = evaluate(drifting, ["random"], trials=2)
    assert np.isnan(result.simple_regret["random"]).all()
    assert "simple regret" not in result.table().header
    assert "simple_regret" not in metrics_of(result)
    drifting = 'metric "simple_regret" needs functions that do not drift, got custom'
    with pytest.raises(ValueError, match=drifting):
        result.plot(tmp_path / "figure.png", metric="simple_regret")
    result.save(tmp_path / "result.parquet")
    assert not Result.load(tmp_path / "result.parquet").has_simple_regret
    still = evaluate(by_hand(horizon=20), ["random"], trials=2)
    assert "simple regret" in still.table().header
    assert "simple regret" not in summary(result).header
    assert "simple regret" in summary(still).header


def test_regret_at_a_stop_is_that_of_the_recommended_arm_whatever_was_available():
    function = by_hand(availability=BernoulliAvailability(0.3), horizon=60)
    rules = {
        "early": ("plateau", {"rounds": 2, "share": 0.5}),
        "never": ("knowledge-gradient", {"price": 1e-9}),
    }
    result = evaluate(function, ["gp-ucb"], trials=8, stopping=rules)
    for i, actions in enumerate(result.actions["gp-ucb"]):
        env = make(function)
        env.reset(seed=trial_seeds(0, i)[0])
        means = env.unwrapped.simulator.trials[0].means[0, 0]
        regrets = means.max() - means[np.unique(actions)]
        for rule in result.stopped["gp-ucb"].values():
            assert np.abs(regrets - rule.regret[i]).min() < 1e-12


class Unsafe(FirstArm):
    """Plays an arm that violates the cost."""

    privileged = True

    def __init__(self, setting):
        self.arm = 0

    def act(self, observation):
        return self.arm

    def update(self, observation, action, reward, info):
        if (info["oracle"]["cost_mean"] <= 0).all():
            self.arm += 1


@pytest.mark.long
def test_without_a_feasible_play_it_is_the_largest_regret_possible_and_tables_stay_finite(tmp_path):
    keywords = {"num_arms": 12, "horizon": HORIZON, "constraints": {"law": "gp", "quantile": 0.3}}
    result = evaluate("GPBandit-Constrained-v0", {"unsafe": Unsafe}, trials=4, env_kwargs=keywords)
    never = (result.costs["unsafe"] > 0).any(axis=2).all(axis=1)
    assert never.any()
    for i in np.flatnonzero(never):
        env = make("GPBandit-Constrained-v0", **keywords)
        env.reset(seed=trial_seeds(0, int(i))[0])
        np.testing.assert_array_equal(result.simple_regret["unsafe"][i], env.get_wrapper_attr("worst_regret"))
    cells = dict(zip(result.table().header, result.table().texts[0], strict=True))
    assert float(cells["simple regret"].split()[0])
    result.plot(tmp_path / "figure.png", "log-log", "simple_regret")


LATE = {"num_arms": 20, "horizon": 40, "delay": {"law": "poisson", "mean": 6, "lost": 0.1}}
TIMES = LATE | {"delay": {"law": "exponential", "mean": 0.5, "interval": 0.1}}


class Impatient(UniformArms):
    """Says that it waits for so long."""

    def __init__(self, setting, window=None):
        super().__init__(setting)
        self.feedback_window = window


@pytest.mark.parametrize(("keywords", "windows"), [(LATE, (0, 4, 9)), (TIMES, (0.1, 0.3, 0.7))])
def test_it_is_that_of_the_best_play_that_was_converted_within_the_window(keywords, windows):
    widths = {f"m = {m}": ("gp-ucb-sdf", {"window": m}) for m in windows}
    own = {f"own, {m}": (Impatient, {"window": m}) for m in windows}
    result = evaluate("GPBandit-GP-v0", widths | own, trials=2, env_kwargs=keywords)
    assert result.windows == {
        label: m for labels in (widths, own) for label, m in zip(labels, windows, strict=True)
    }
    for label, window in result.windows.items():
        for i in range(2):
            actions, seed = result.actions[label][i], trial_seeds(0, i)[0]
            expected = by_definition("GPBandit-GP-v0", keywords, actions, seed, 40, window)
            np.testing.assert_allclose(result.simple_regret[label][i], expected, atol=1e-12, err_msg=label)


def test_feedback_of_the_last_round_took_as_long_as_that_of_any_other():
    setting = Setting(arms=np.eye(3), horizon=10, query_times=0.1 * np.arange(10), max_delay=9)
    delay = np.full((1, 10), 3)  # until the next round starts that is four intervals
    assert (learnable(delay, 0.3, setting)[:, :7] == -1).all()  # the others come after the end
    assert (learnable(delay, 0.4, setting)[:, :7] == 3).all()


@pytest.mark.parametrize("num_trials", [None, 2])
@pytest.mark.parametrize("options", [{}, {"refit_every": 5}], ids=["known", "learnt"])
def test_agents_say_the_window_of_their_belief(num_trials, options):
    env, said = make("GPBandit-GP-v0", **LATE), {}
    env.reset(seed=0)
    for name in GAUSSIAN:
        try:
            agent = agents.make(name, env, num_trials, **options)
        except ValueError:  # it learns nothing
            continue
        agent.reset(0 if num_trials is None else [0, 1])
        said[name] = getattr(agent, "feedback_window", None)
    assert said["gp-ucb-sdf"] == said["gp-ts-sdf"] == 10  # 95 % of Poisson(6)
    assert {name for name, window in said.items() if window is not None} == {"gp-ucb-sdf", "gp-ts-sdf"}


@pytest.mark.parametrize("window", [-1, "all", np.array([1.0, 2.0]), np.nan])
def test_a_window_that_is_no_time_is_one_clear_error(window):
    with pytest.raises(ValueError, match="feedback_window of an agent must be None, 0 or positive"):
        evaluate("GPBandit-GP-v0", {"a": (Impatient, {"window": window})}, trials=1, env_kwargs=LATE)


def test_windows_are_kept_in_files_and_parts_and_told_below_tables(tmp_path):
    result = dataclasses.replace(synthetic_result(), windows={"GP-TS": 7.0})
    result.save(tmp_path / "r.parquet")
    assert Result.load(tmp_path / "r.parquet").windows == {"GP-TS": 7.0}
    assert result.select(["GP-UCB"]).windows == {}
    assert result.select(["GP-TS"]).windows == result.at([1, 60]).windows == {"GP-TS": 7.0}
    assert "within the agent's window if it has one" in str(result.table())
    assert "window" not in str(synthetic_result().table())
    with pytest.raises(ValueError, match="windows names agents without a record: mine"):
        dataclasses.replace(result, windows={"mine": 3.0})
