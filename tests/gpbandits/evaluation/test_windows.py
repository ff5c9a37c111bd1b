"""The simple regret of agents that discard late feedback counts only what they learn from."""

import dataclasses

import numpy as np
import pytest
from agent_cases import GAUSSIAN
from synthetic import result as synthetic_result

import agents
from bandit_envs import Setting, make
from gpbandits import evaluate
from gpbandits.evaluation import Result, trial_seeds
from gpbandits.evaluation.simple_regret import learnable

ROUNDS = {"num_arms": 20, "horizon": 40, "delay": {"law": "poisson", "mean": 6, "lost": 0.1}}
TIMES = ROUNDS | {"delay": {"law": "exponential", "mean": 0.5, "interval": 0.1}}


class Impatient:
    """Plays the arms in turn, and says that it waits for so long."""

    def __init__(self, setting, window=None):
        self.size, self.feedback_window = len(setting.arms), window

    def reset(self, seed):
        self.t = 0

    def act(self, observation):
        return self.t % self.size

    def update(self, observation, action, reward, info):
        self.t += 1


def converted(keywords, actions, window, seed):
    """Simple regret by the definition, play by play and round by round, (T,)."""
    env = make("GPBandit-GP-v0", **keywords)
    env.reset(seed=seed)
    times = env.get_wrapper_attr("setting").query_times
    worst = env.get_wrapper_attr("worst_regret")
    oracles = [env.step(int(action))[4]["oracle"] for action in actions]
    curve = []
    for now in range(len(actions)):
        best = np.inf
        for played, oracle in enumerate(oracles[: now + 1]):
            arrival = played + oracle["delay"]
            if oracle["delay"] < 0 or arrival > now:
                continue
            taken = oracle["delay"] if times is None else (oracle["delay"] + 1) * times[1]
            if taken <= window + 1e-6:
                best = min(best, oracle["regret"])
        curve.append(worst[now] if best == np.inf else best)
    return np.array(curve)


@pytest.mark.parametrize(("keywords", "windows"), [(ROUNDS, (0, 4, 9)), (TIMES, (0.1, 0.3, 0.7))])
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
            expected = converted(keywords, actions, window, seed)
            np.testing.assert_allclose(result.simple_regret[label][i], expected, atol=1e-12, err_msg=label)


def test_feedback_of_the_last_round_took_as_long_as_that_of_any_other():
    setting = Setting(arms=np.eye(3), horizon=10, query_times=0.1 * np.arange(10), max_delay=9)
    delay = np.full((1, 10), 3)  # until the next round starts that is four intervals
    assert (learnable(delay, 0.3, setting)[:, :7] == -1).all()  # the others come after the end
    assert (learnable(delay, 0.4, setting)[:, :7] == 3).all()


def test_of_an_agent_without_a_window_it_is_that_of_everything_that_arrives():
    specs = {
        "plain": Impatient,
        "patient": (Impatient, {"window": 1e9}),
        "strict": (Impatient, {"window": 0}),
    }
    result = evaluate("GPBandit-GP-v0", specs, trials=3, env_kwargs=ROUNDS)
    np.testing.assert_array_equal(result.simple_regret["plain"], result.simple_regret["patient"])
    assert (result.simple_regret["strict"] >= result.simple_regret["plain"]).all()
    assert (result.simple_regret["strict"] > result.simple_regret["plain"]).any()
    assert set(result.windows) == {"patient", "strict"}


@pytest.mark.parametrize("num_trials", [None, 2])
@pytest.mark.parametrize("options", [{}, {"refit_every": 5}], ids=["known", "learnt"])
def test_agents_say_the_window_of_their_belief(num_trials, options):
    env, said = make("GPBandit-GP-v0", **ROUNDS), {}
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
        evaluate("GPBandit-GP-v0", {"a": (Impatient, {"window": window})}, trials=1, env_kwargs=ROUNDS)


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
