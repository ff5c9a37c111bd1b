"""Arms that come and go: which are there, what is best among them, and what playing a missing one says."""

from typing import Any

import numpy as np
import pytest
from cases import COSTS, IN_CONTEXTS, by_hand

import bandit_envs
from bandit_envs import BanditEnv, BanditVectorEnv, Problem
from bandit_envs.basics.options import parse
from bandit_envs.laws import changes
from bandit_envs.laws.availability import LAWS, BernoulliAvailability, EveryArm
from bandit_envs.laws.drift import OrnsteinUhlenbeck
from bandit_envs.problems import build

SELDOM = {"availability": BernoulliAvailability(0.1)}
LIMITED = {"decisions": IN_CONTEXTS, "constraints": COSTS, **SELDOM}
VOLATILE = {
    "plain": by_hand(**SELDOM),
    "contexts, costs and changes": by_hand(**LIMITED, changes=changes.AtRounds((10, 25))),
    "drift": by_hand(**LIMITED, drift=OrnsteinUhlenbeck(0.05)),
}
each_volatile = pytest.mark.parametrize("problem", VOLATILE.values(), ids=list(VOLATILE))


def episode(problem: Problem, choose: Any, seed: int = 0) -> list[dict[str, Any]]:
    """Every info of an episode, that of the reset first; `choose` gets the available arms."""
    env = BanditEnv(problem)
    infos = [env.reset(seed=seed)[1]]
    while infos[-1]["t"] < problem.horizon - 1:
        infos.append(env.step(choose(infos[-1]["action_mask"].nonzero()[0]))[-1])
    return infos


@pytest.mark.parametrize("name", LAWS)
def test_a_wanted_arm_is_there_in_every_round(name):
    wanted = np.random.default_rng(0).random((500, 6)) < 0.3
    wanted[:, 2] |= ~wanted.any(axis=1)
    law = parse("availability", name, LAWS)
    for each in (law, BernoulliAvailability(1e-12)):
        available = each.draw(wanted, np.random.default_rng(1))
        assert available.shape == wanted.shape
        assert (available & wanted).any(axis=1).all()


@pytest.mark.parametrize("name", LAWS)
def test_rounds_that_are_drawn_in_pieces_are_those_drawn_at_once(name):
    law, wanted = parse("availability", name, LAWS), np.ones((90, 3), dtype=bool)
    whole, rng = law.draw(wanted, np.random.default_rng(3)), np.random.default_rng(3)
    pieces = [law.draw(wanted[part], rng) for part in (slice(7), slice(7, 60), slice(60, 90))]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


@pytest.mark.parametrize("p", [0.05, 0.4])
def test_bernoulli_is_the_law_of_drawing_again_until_a_wanted_arm_is_there(p):
    # Every pattern of 3 arms, of which the first two are wanted, by rejection in closed form.
    patterns = np.array(list(np.ndindex(2, 2, 2)), dtype=bool)
    chance = np.where(patterns, p, 1 - p).prod(axis=1) * patterns[:, :2].any(axis=1)
    chance /= chance.sum()
    draws = 40_000
    wanted = np.broadcast_to([True, True, False], (draws, 3))
    drawn = BernoulliAvailability(p).draw(wanted, np.random.default_rng(0))
    share = np.array([(drawn == pattern).all(axis=1).mean() for pattern in patterns])
    assert (np.abs(share - chance) <= 4 * np.sqrt(chance / draws) + 1e-12).all()


@each_volatile
def test_regret_is_to_the_best_feasible_arm_that_is_there(problem):
    env = BanditEnv(problem)
    _, info = env.reset(seed=4)
    trial: Any = env.simulator.trials[0]
    for t in range(problem.horizon):
        mask, at = info["action_mask"].astype(bool), trial.context[t] * 25
        means = trial.means[trial.version[t]][:, at : at + 25]
        best = means[0, mask & (means[1:] <= 0).all(axis=0)].max()
        arm = int(mask.nonzero()[0][-1])
        info = env.step(arm)[-1]
        assert info["oracle"]["optimum"] == best
        assert info["oracle"]["regret"] == best - means[0, arm]
        assert info["oracle"]["segment"] == trial.segment[t]
        assert env.worst_regret[t] == best - means[0, mask].min()


@each_volatile
def test_masks_are_of_the_next_choice_and_do_not_depend_on_plays_and_the_first_has_all_arms(problem):
    one, other = ([info["action_mask"] for info in episode(problem, choose)] for choose in (min, max))
    np.testing.assert_array_equal(one, other)
    assert len(one) == problem.horizon + 1
    assert 0 < np.mean(one) < 0.5
    assert one[0].all()  # so that an arm that was chosen before the reset may be played


def test_where_all_arms_are_there_nothing_says_so():
    for neutral in (by_hand(), by_hand(availability=EveryArm()), build("gp", {"availability": "all"})):
        _, info = BanditEnv(neutral).reset(seed=0)
        assert "action_mask" not in info
        assert not neutral.setting().volatile
        assert BanditEnv(neutral).action_masks().all()


def test_arms_that_are_always_there_change_nothing_but_the_key():
    plain, certain = by_hand(), by_hand(availability=BernoulliAvailability(1.0))
    for ours, theirs in zip(steps(plain), steps(certain), strict=True):
        assert theirs[-1].pop("action_mask").all()
        np.testing.assert_equal(theirs, ours)


def steps(problem: Problem) -> list[Any]:
    env = BanditEnv(problem)
    env.reset(seed=0)
    return [env.step(arm % 25) for arm in range(problem.horizon)]


def test_a_missing_arm_is_named_with_the_remedy_and_nothing_is_played():
    env = BanditEnv(VOLATILE["plain"])
    _, info = env.reset(seed=0)
    info = env.step(0)[-1]
    missing = int(info["action_mask"].argmin())
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"available, got {missing}, .*round 1.*action_mask"):
            env.step(missing)
    assert env.step(int(info["action_mask"].argmax()))[-1]["t"] == 1


@pytest.mark.parametrize("done", [False, True])
def test_a_missing_arm_of_one_copy_leaves_all_copies_where_they_were(done):
    env = BanditVectorEnv(by_hand(availability=BernoulliAvailability(0.5), horizon=3), 3)
    env.reset(seed=0)
    if done:  # copy 0 has finished after one more step, and is begun anew by the next
        for _ in range(2):
            env.step(np.argmax(env.call("action_masks"), axis=1))
        env.reset(options={"reset_mask": np.array([False, True, True])})
    env.step(np.argmax(env.call("action_masks"), axis=1))
    arms = np.argmax(env.call("action_masks"), axis=1)
    arms[2] = np.argmin(env.call("action_masks")[2])
    rounds = env.simulator.round.copy()
    with pytest.raises(ValueError, match="missing from trial 2, round 1"):
        env.step(arms)
    np.testing.assert_array_equal(env.simulator.round, rounds)


def test_spaces_sample_by_the_mask_of_one_environment_and_of_a_batch():
    env, batch = BanditEnv(VOLATILE["plain"]), BanditVectorEnv(VOLATILE["plain"], 4)
    _, info = env.reset(seed=0)
    _, infos = batch.reset(seed=0)
    assert infos["action_mask"].shape == (4, 25)
    for _ in range(20):
        arm = env.action_space.sample(info["action_mask"])
        arms = batch.action_space.sample(tuple(infos["action_mask"]))
        assert info["action_mask"][arm] == 1
        info, infos = env.step(arm)[-1], batch.step(arms)[-1]
        np.testing.assert_array_equal(env.action_masks(), info["action_mask"] == 1)
        np.testing.assert_array_equal(batch.call("action_masks"), infos["action_mask"] == 1)


FEW = {"law": "bernoulli", "p": 0.3}


def test_a_box_has_no_arms_that_could_be_missing():
    keywords = {"continuous": True, "availability": FEW, "num_arms": 9}
    with pytest.raises(ValueError, match=r"availability must be left out on a box"):
        build("rkhs", keywords)
    with pytest.raises(ValueError, match=r"action_masks needs arms, got a box"):
        bandit_envs.make("GPBandit-RKHS-v0", continuous=True, num_arms=9).get_wrapper_attr("action_masks")()
