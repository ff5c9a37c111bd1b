"""Duels: who wins, what it costs, which features compose with them, and who is refused."""

import gymnasium as gym
import numpy as np
import pytest
from cases import Case, by_hand
from gymnasium.vector import AutoresetMode
from scipy.special import expit, logit
from vector_pairs import pair, play_both, same

import agents
from bandit_envs import BanditEnv, Decisions
from bandit_envs.basics.arguments import ArgumentError
from bandit_envs.environment.wrappers import HistoryObservation
from bandit_envs.laws import KnownFunction, RecordedValues, delays
from bandit_envs.laws.derived import Normalized
from bandit_envs.laws.duels import AgainstBest, PairChances, WhoWins
from bandit_envs.laws.tabulated import MeasuredCosts
from bandit_envs.problem.decisions import unit_grid
from bandit_envs.problems import build
from gpbandits import evaluate

DUEL = "GPBandit-Duel-v0"


def utilities(env):
    """The utilities less the largest, f - f*, of the trial."""
    return logit(env.unwrapped.simulator.trials[0].means[0][0])


def test_a_trial_has_the_utilities_of_the_same_function_as_single_arms():
    duel = build("duel", {}).draw(5)
    plain = build("gp", {"num_arms": 30}).draw(5)
    f = plain.means[0][0]
    np.testing.assert_allclose(logit(duel.means[0][0]), f - f.max(), rtol=0, atol=1e-10)


def test_the_same_number_decides_a_round_whatever_pair_is_played():
    first, second = (gym.make(DUEL, horizon=60) for _ in range(2))
    for env in (first, second):
        env.reset(seed=1)
    f = utilities(first)
    best, worst = f.argmax(), f.argmin()
    for _ in range(60):  # the best beats the worst wherever it beats itself
        even = first.step(np.array([best, best]))[4]["feedback_reward"][0]
        easy = second.step(np.array([best, worst]))[4]["feedback_reward"][0]
        assert easy >= even


def test_the_best_arm_of_each_context_has_no_regret():
    env = gym.make(DUEL, num_contexts=4, horizon=40)
    env.reset(seed=0)
    trial = env.unwrapped.simulator.trials[0]
    best = trial.means[0][0].reshape(4, 30).argmax(axis=1)
    for t in range(40):
        arm = best[trial.context[t]]
        assert env.step(np.array([arm, arm]))[4]["oracle"]["regret"] == 0.0


def test_results_have_strong_and_weak_regret_and_keep_them_in_files(tmp_path):
    result = evaluate(DUEL, ["random"], trials=3, env_kwargs={"horizon": 25})
    thinned = evaluate(DUEL, ["random"], trials=3, env_kwargs={"horizon": 25}, checkpoints=[5, 25])
    thinned.save(tmp_path / "duels.parquet")
    again = type(result).load(tmp_path / "duels.parquet")
    strong, weak = sides = [result.running(f"{side}_regret")["random"] for side in ("strong", "weak")]
    np.testing.assert_allclose((strong + weak) / 2, result.regret["random"], rtol=0, atol=1e-12)
    stored = [again.running(f"{side}_regret")["random"] for side in ("strong", "weak")]
    np.testing.assert_allclose(stored, np.array(sides)[:, :, [4, 24]], rtol=1e-12)
    assert result.actions["random"].shape == (3, 25, 2)
    assert not evaluate("GPBandit-GP-v0", ["random"], trials=1, env_kwargs={"horizon": 3}).held("weak_regret")


def test_the_history_shows_both_arms_and_who_won():
    env = HistoryObservation(gym.make(DUEL, horizon=10))
    env.reset(seed=0)
    seen, *_, info = env.step(np.array([0, 29]))
    np.testing.assert_allclose(seen, [0, -1, 1, -1, 1, info["feedback_reward"][0], 1, 0.1], rtol=1e-6)
    assert env.observation_space.contains(seen)


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ts-sdf", "sb3-ppo", "optuna-tpe", "bandit-oco"])
def test_agents_of_single_arms_are_refused_with_the_reason(name):
    with pytest.raises(ValueError, match="a duel says only who won"):
        agents.make(name, build("duel", {}))


@pytest.mark.parametrize("action", [3, [3], [1, 2, 3], [0.5, 1.0], [-1, 0], [0, 30]])
def test_an_action_that_is_no_pair_of_arms_is_an_error(action):
    env = gym.make(DUEL).unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action must be "):
        env.step(action)


def slope(x):
    return 3.0 * x[:, 0]


def duelling(reward, num_arms=9, **laws):
    arms = Decisions(unit_grid(num_arms), duel=True)
    return by_hand(**{"decisions": arms, "reward": reward, "noise": WhoWins(), **laws})


def test_chances_against_the_best_take_the_number_of_arms_from_the_decisions():
    """The utilities are 0 to 3, so the best arm beats the worst with probability s(3)."""
    env = BanditEnv(duelling(AgainstBest(KnownFunction(slope))))
    env.reset(seed=0)
    truth = env.step(np.array([8, 0]))[4]["oracle"]
    assert truth["strong_regret"] == pytest.approx(expit(3.0) - 0.5, abs=1e-12)
    assert truth["regret"] == pytest.approx((expit(3.0) - 0.5) / 2, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: duelling(AgainstBest(KnownFunction(slope), 1)), "num_arms must be None or 9"),
        (lambda: duelling(PairChances(CYCLE, "borda")), r"matrix must be one of \(1, 9, 9\)"),
        (lambda: duelling(AgainstBest(RecordedValues(np.ones((2, 4))))), r"recorded values must be \(M, 9\)"),
        (lambda: by_hand(reward=RecordedValues(np.ones((2, 4)))), r"recorded values must be \(M, 25\)"),
        (lambda: by_hand(reward=Normalized(RecordedValues(np.ones((2, 4))))), r"recorded values must be \(M"),
        (lambda: by_hand(constraints=(RecordedValues(-np.ones((2, 4))),)), r"recorded values must be \(M"),
        (lambda: by_hand(play_costs=MeasuredCosts(9.0, values=np.ones(4))), r"values must be \(25,\) costs"),
        (lambda: WhoWins(std=-1.0), r"^std must be 0 or positive, got -1\.0; "),
        (lambda: PairChances([[0.6, 0.5], [0.5, 0.4]]), "matrix must be .*P_ij . P_ji = 1 and P_ii = 1/2"),
        (lambda: PairChances([[0.5, 1.2], [-0.2, 0.5]]), "matrix must be .*of probabilities from 0 to 1"),
        (lambda: PairChances([[0.5, np.nan], [0.5, 0.5]]), "matrix must be .*of probabilities from 0 to 1"),
        (lambda: PairChances(np.full((2, 3), 0.5)), "matrix must be .*probabilities, or "),
        (lambda: PairChances("cycle"), "matrix must be .*probabilities, or "),
    ],
)
def test_a_part_of_no_duel_or_of_another_size_is_refused_before_anything_is_drawn(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


CYCLE = np.array([[0.5, 0.9, 0.5, 0.1], [0.1, 0.5, 0.9, 0.5], [0.5, 0.1, 0.5, 0.9], [0.9, 0.5, 0.1, 0.5]])
# Arm 1 beats all others; 0 beats 2, which beats 3, which beats 0: no utilities say so.
CONDORCET = np.array([[0.5, 0.4, 0.9, 0.2], [0.6, 0.5, 0.7, 0.8], [0.1, 0.3, 0.5, 0.9], [0.8, 0.2, 0.1, 0.5]])


def by_matrix(matrix, **laws):
    shape = np.shape(matrix)
    contexts = np.arange(shape[0], dtype=float)[:, None] if len(shape) == 3 else None
    arms = Decisions(unit_grid(shape[-1]), contexts, duel=True)
    against = laws.pop("against", "condorcet")
    return duelling(PairChances(matrix, against), decisions=arms, horizon=laws.pop("horizon", 40), **laws)


@pytest.mark.parametrize("matrix", [CYCLE, CONDORCET], ids=["cycle", "a winner"])
def test_duels_by_a_matrix_are_won_as_often_as_it_says(matrix):
    env = BanditEnv(by_matrix(matrix, against="borda", horizon=4000))
    for i, j in ((0, 1), (1, 0), (2, 0), (3, 0)):
        env.reset(seed=3)
        won = [env.step(np.array([i, j]))[4]["feedback_reward"][0] for _ in range(4000)]
        p = matrix[i, j]
        assert abs(np.mean(won) - p) < 4 * np.sqrt(p * (1 - p) / 4000)


def test_regret_by_a_matrix_is_against_the_arm_that_beats_all_others():
    env = BanditEnv(by_matrix(CONDORCET))
    env.reset(seed=0)
    for i, j in np.ndindex(4, 4):
        truth = env.step(np.array([i, j]))[4]["oracle"]
        each = CONDORCET[1, [i, j]] - 0.5
        assert truth["regret"] == pytest.approx(each.mean(), abs=1e-12)
        assert (truth["strong_regret"], truth["weak_regret"]) == pytest.approx((each.max(), each.min()))


def test_without_an_arm_that_beats_all_others_regret_must_be_asked_for_by_its_name():
    with pytest.raises(ArgumentError, match=r"got none in context 0; give against=.borda."):
        PairChances(CYCLE)
    with pytest.raises(ArgumentError, match=r"got none in context 1; give against=.borda."):
        PairChances(np.stack([CONDORCET, CYCLE]))
    others = (CONDORCET.sum(axis=1) - 0.5) / 3
    env = BanditEnv(by_matrix(CONDORCET, against="borda"))
    env.reset(seed=0)
    regret = env.step(np.array([0, 3]))[4]["oracle"]["regret"]
    assert regret == pytest.approx(others.max() - others[[0, 3]].mean(), abs=1e-12)


def test_a_matrix_of_logistic_chances_gives_the_duels_of_its_utilities():
    f = slope(unit_grid(9))
    matrix = by_matrix(expit(f[:, None] - f), delay=delays.PoissonDelay(2))
    utilities_ = duelling(AgainstBest(KnownFunction(slope)), delay=delays.PoissonDelay(2))
    ours, theirs = BanditEnv(matrix), BanditEnv(utilities_)
    ours.reset(seed=5), theirs.reset(seed=5)
    for pair_ in np.random.default_rng(0).integers(9, size=(40, 2)):
        a, b = ours.step(pair_)[4], theirs.step(pair_)[4]
        np.testing.assert_array_equal(a["feedback_reward"], b["feedback_reward"])
        assert a["oracle"]["regret"] == pytest.approx(b["oracle"]["regret"], abs=1e-12)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_vector_form_by_a_matrix_of_each_context_equals_its_singles(mode):
    both = np.stack([CONDORCET, CONDORCET[::-1, ::-1]])
    problem = by_matrix(both, horizon=12, delay=delays.PoissonDelay(2))
    ours, theirs = pair(Case(problem, {}), mode)
    same(ours.reset(seed=4), theirs.reset(seed=4))
    assert play_both(ours, theirs, mode, 30) >= 3


def test_agents_of_duels_play_a_matrix_of_chances():
    result = evaluate(by_matrix(CONDORCET, horizon=300), ["maxminlcb", "random"], trials=3)
    assert result.regret["maxminlcb"].sum(axis=1).mean() < result.regret["random"].sum(axis=1).mean()
