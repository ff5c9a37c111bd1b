"""Agents learn which arms are there, or are allowed, from the first round on, and play no other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from agent_cases import OF_ARMS, of_each_shape
from players import FirstArm, play, started

import agents
from agents.acquisition.improvement import MaxMean
from agents.agent.candidate_views import ArmsView
from agents.beliefs.delivered import Delivered
from agents.beliefs.points import Arms
from agents.model.choice import argmax_with_ties
from agents.model.model import Model
from agents.model.rounds import Delivery
from agents.objectives.base import Reward
from agents.objectives.parts import model_and_costs
from agents.objectives.penalties import UNLIMITED
from agents.objectives.primal_dual import Rectified
from agents.protocol import adapted
from agents.registry import resolve_agent
from bandit_envs import BanditEnv, Problem
from bandit_envs.problems import build
from gpbandits import check_agent, evaluate
from gpbandits.evaluation import AgentCheckError

SMALL = {"num_arms": 12, "horizon": 20}
HALF = {"law": "bernoulli", "p": 0.5}
PLAYING = [name for name in agents.names() if agents.features(name).availability]
REFUSED = [name for name in OF_ARMS if not agents.features(name).availability]


def volatile(**keywords: Any) -> Problem:
    return build("gp", SMALL | {"availability": HALF} | keywords)


def actions(problem: Problem, name: str, **options: Any) -> list[int]:
    """An agent's plays; the environment refuses those that are missing."""
    env = BanditEnv(problem)
    agent, seen, _ = begin(env, name, **options)
    return play(env, agent, seen, problem.horizon)[0]


def begin(env: BanditEnv, name: str, **options: Any) -> tuple[Any, Any, Any]:
    """A new agent, the first observation and the info of the reset."""
    seen, info = env.reset(seed=3)
    agent = started(agents.make(name, env, **options), 7)
    if "action_mask" in info:
        agent.start(info)
    return agent, seen, info


@pytest.mark.parametrize("name", of_each_shape(PLAYING))
def test_arms_that_are_always_there_change_no_play(name):
    if name == "random":
        pytest.skip("it draws among the arms of a mask in another way")
    always = {"availability": {"law": "bernoulli", "p": 1.0}}
    plain, masked = (build("gp", SMALL | {"horizon": 8} | costs_of(name) | more) for more in ({}, always))
    assert actions(plain, name) == actions(masked, name)


@pytest.mark.parametrize("name", of_each_shape(PLAYING))
def test_no_agent_plays_an_arm_that_is_missing(name):
    crowded = {"num_arms": 40, "horizon": 8}  # so that arms are within 0.05 of each other
    problem = volatile(**crowded, availability={"law": "bernoulli", "p": 0.3}, **costs_of(name))
    assert len(actions(problem, name)) == 8


@pytest.mark.parametrize("name", [name for name in REFUSED if not name.startswith("sb3-")])
def test_whose_mathematics_does_not_allow_for_missing_arms_says_why(name):
    assert "missing" in str(resolve_agent(name).make.__doc__)


def costs_of(name: str) -> dict[str, Any]:
    """What the agent needs of costs."""
    features = agents.features(name)
    return {"constraints": "gp", "safe_seed": features.seed} if features.constraint else {}


@pytest.mark.parametrize("name", of_each_shape(REFUSED))
def test_an_agent_that_declares_no_availability_is_refused_before_anybody_plays(name):
    progress: list[Any] = []
    with pytest.raises(ValueError, match=rf"agent '{name}': setting must be without volatile arms"):
        evaluate(volatile(), ["random", name], trials=1, progress=lambda *done: progress.append(done))
    assert not progress
    with pytest.raises(ValueError, match="setting must be without volatile arms"):
        agents.make(name, volatile())


@pytest.mark.parametrize("name", ["gp-ucb", "random", "constrained-ei"])
def test_an_agent_that_was_not_told_of_the_first_arms_says_how_to_tell_it(name):
    problem = volatile(constraints="gp")
    agent = started(agents.make(name, problem))
    with pytest.raises(RuntimeError, match=r"call start\(info\) after its reset"):
        agent.act(np.zeros(1))


@pytest.mark.parametrize("mask", [None, np.ones(3, np.int8), np.zeros(12, np.int8), np.full(12, 2, np.int8)])
def test_a_mask_that_cannot_be_is_an_error_that_leaves_the_agent_as_it_was(mask):
    env = BanditEnv(volatile())
    agent, seen, _ = begin(env, "gp-ucb")
    arm = agent.act(seen)
    following, reward, *_, info = env.step(arm)
    broken = {key: value for key, value in info.items() if key != "action_mask"}
    if mask is not None:
        broken["action_mask"] = mask
    with pytest.raises(ValueError, match=r'info\["action_mask"\] must be \(12,\)'):
        agent.update(seen, arm, reward, broken)
    agent.update(seen, arm, reward, info)
    assert agent.round == 1
    assert info["action_mask"][agent.act(following)] == 1


@pytest.mark.parametrize("worst", [-np.inf, 0.0, -1e300])
def test_the_largest_score_is_sought_among_what_is_offered_even_where_nothing_is_wanted(worst):
    scores = np.array([[1.0, worst, worst, 5.0], [worst, 2.0, 3.0, worst], [worst] * 4])
    offered = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=bool)
    for uniform in (0.0, 0.999):
        draws = np.full(3, uniform)
        together = argmax_with_ties(scores, 1e-9, draws, offered)
        alone = [argmax_with_ties(scores[[i]], 1e-9, draws[[i]], offered[[i]]).item() for i in range(3)]
        assert together.tolist() == alone == [1 if uniform == 0.0 else 2, 0, 3]


def test_samples_and_incumbents_are_those_of_the_arms_that_are_there():
    model = Model.of(volatile().setting())
    belief, rows = Delivered(model, 1), np.zeros(3, dtype=np.int64)
    belief.receive(Delivery.of_values(rows, np.array([0, 5, 9]), np.array([3.0, 1.0, 2.0])))
    offered = np.zeros((1, 12), dtype=bool)
    offered[0, [5, 9, 10]] = True

    def view(among: Any) -> ArmsView:
        agent = SimpleNamespace(
            incumbent=MaxMean(1, model.setting.decisions),
            objective=Reward(model, 1),
            t=np.ones(1, dtype=np.int64),
            samplers=[np.random.default_rng(0)],
            memory=None,
            arms=lambda context: Arms(context, model.setting.decisions),
        )
        return ArmsView(agent, belief, np.zeros(1, dtype=np.int64), among)

    mean = view(None).mean[0]
    assert view(None).incumbent == mean[[0, 5, 9]].max()
    assert view(offered).incumbent == mean[[5, 9]].max()
    joint = mean + view(None).centred_sample()[0]
    assert view(None).sampled_maximum() == joint.max()
    assert view(offered).sampled_maximum() == joint[[5, 9, 10]].max()
    offered[0, [5, 9]] = False  # nothing that is there was played
    assert view(offered).incumbent == 0.0


def test_where_nothing_that_is_there_can_be_feasible_the_least_violation_is_played_and_declared():
    problem = volatile(constraints="gp")
    model, assumed = model_and_costs(problem.setting(), standardize=False)

    def combined(scores: list[float]) -> Any:
        objective: Any = Rectified(model, 1, assumed=assumed, schedule=UNLIMITED)
        objective.lower = lambda j, band, t: over
        return objective.combined(np.array([scores]), [(over, over)], np.ones(1)), objective.infeasible

    over = np.array([[0.0, 2.0, 1.0]])  # arm 0 is feasible and missing
    worth, infeasible = combined([-np.inf, 5.0, 4.0])
    assert infeasible.all()
    assert argmax_with_ties(worth, 0.0, np.zeros(1), np.array([[False, True, True]])) == 2
    _, infeasible = combined([1.0, 5.0, 4.0])
    assert not infeasible.any()


@pytest.mark.parametrize("name", ["gp-ucb", "constrained-ei", "random", "lb-gp-ucb"])
def test_a_saved_agent_goes_on_with_the_arms_that_are_there(name, tmp_path):
    env = BanditEnv(volatile(constraints="gp"))
    agent, seen, _ = begin(env, name)
    for t in range(8):
        if t in (0, 5):  # before the first play too
            agent.save(tmp_path / "agent.json")
            agent, twin = agents.load(tmp_path / "agent.json"), agents.load(tmp_path / "agent.json")
            assert twin.act(seen) == agents.load(tmp_path / "agent.json").act(seen)
        arm = agent.act(seen)
        following, reward, *_, info = env.step(arm)
        agent.update(seen, arm, reward, info)
        seen = following


@pytest.mark.long
def test_agents_of_a_process_of_their_own_learn_which_arms_are_there():
    problem = volatile(horizon=6)
    theirs = evaluate(problem, ["gp-ucb"], trials=2, isolate=True)
    mine = evaluate(problem, ["gp-ucb"], trials=2, entropy=theirs.entropy)
    np.testing.assert_array_equal(mine.actions["gp-ucb"], theirs.actions["gp-ucb"])


def test_an_agent_of_ones_own_that_looks_at_no_mask_is_told_so():
    with pytest.raises(AgentCheckError, match=r"\[available arms\].*method start\(info\)"):
        check_agent(FirstArm, {"volatile": volatile()})
    with pytest.raises(ValueError, match=r"available, got 0, which is missing from round \d+; choose where"):
        evaluate(volatile(), {"mine": FirstArm}, trials=3)


@pytest.mark.parametrize(
    ("law", "mask", "message"),
    [(HALF, np.zeros, r"got one of shape \(12,\) without any arm"), (None, np.ones, "volatile=True")],
)
def test_a_mask_without_any_arm_or_beside_a_setting_that_tells_of_none_is_refused(law, mask, message):
    agent = started(agents.make("gp-ucb", volatile(availability=law)))
    with pytest.raises(ValueError, match=message):
        agent.start({"action_mask": mask(12, np.int8)})


def test_an_arm_cannot_be_held_where_it_may_be_missing():
    with pytest.raises(ValueError, match=r"repeat must be 1, .* may be missing in the next round"):
        agents.make("gp-ucb", volatile(), repeat=4.0)


def test_an_agent_that_learns_regrets_less_than_random_plays_of_volatile_arms():
    result = evaluate(volatile(horizon=100, num_arms=50), ["gp-ucb", "random"], trials=4)
    assert (result.regret["gp-ucb"] >= 0).all()
    assert result.regret["gp-ucb"][:, -1].mean() < 0.5 * result.regret["random"][:, -1].mean()


class FirstThatIsThere(FirstArm):
    """Plays the first arm that is there."""

    def act(self, observation: Any) -> int:
        return self.arm

    def start(self, info: dict[str, Any]) -> None:
        self.arm = int(info["action_mask"].argmax())

    def update(self, observation: Any, action: Any, reward: Any, info: dict[str, Any]) -> None:
        self.start(info)


def test_an_agent_of_ones_own_takes_part_by_start_and_update():
    check_agent(FirstThatIsThere, {"volatile": volatile()})
    assert evaluate(volatile(), {"mine": FirstThatIsThere}, trials=2).regret["mine"].shape == (2, 20)


# What a user allows

EVERY = {"law": "bernoulli", "p": 1.0}
SOME = np.arange(12) % 5 == 2  # arms 2 and 7


def played(env, name, rounds=3, at_last=None):
    """Return an agent after some rounds, the last of which left it a mask, and its next observation."""
    seen, info = env.reset(seed=3)
    agent: Any = adapted(agents.make(name, env))
    agent.reset(7)
    last: Any = ()
    for t in range(rounds + 1):
        if at_last is not None and t == rounds:
            info = info | {"action_mask": at_last.astype(np.int8)}
        if t > 0:
            agent.update(*last, info)
        elif "action_mask" in info:
            agent.start(info)
        if t < rounds:
            arm = agent.act(seen)
            following, reward, *_, info = env.step(arm)
            last, seen = (seen, arm, reward), following
    return agent, seen


@pytest.mark.parametrize("name", of_each_shape(OF_ARMS))
def test_an_agent_plays_what_a_user_allows_or_says_that_it_cannot(name):
    agent, seen = played(BanditEnv(build("gp", SMALL)), name)
    for arms in (SOME, ~SOME, SOME):  # asked anew before the round is played
        if agent.offer(arms):
            assert arms[agent.act(seen)]
        else:
            assert name not in PLAYING or agent.holds_choice


@pytest.mark.parametrize("name", of_each_shape(PLAYING))
@pytest.mark.parametrize("rounds", [0, 3])
def test_an_offer_and_a_mask_of_the_environment_give_the_same_play(name, rounds):
    env = BanditEnv(build("gp", SMALL | {"availability": EVERY}))
    masked, seen = played(env, name, rounds, at_last=SOME)
    wanted = masked.act(seen)
    masked.close()  # learners of two agents at a time would share the library's generator
    allowed, _ = played(env, name, rounds)
    assert allowed.offer(SOME)
    assert allowed.act(seen) == wanted
    allowed.close()


def test_trials_of_a_batch_are_offered_the_same_arms_or_a_row_each():
    setting = build("gp", SMALL).setting()
    for options in ({}, {"refit_every": 5}):  # one agent of all trials, and a list of agents
        batch = started(agents.make("gp-ucb", setting, num_trials=2, **options), [0, 1])
        assert batch.offer(SOME)
        assert SOME[batch.act(np.zeros((2, 1)))].all()
        assert batch.offer(np.stack([SOME, ~SOME]))
        first, second = batch.act(np.zeros((2, 1)))
        assert SOME[first]
        assert not SOME[second]


@pytest.mark.parametrize("name", ["gp-ucb", "random", "lb-gp-ucb"])
def test_a_saved_agent_remembers_what_was_allowed(name, tmp_path):
    agent, seen = played(BanditEnv(build("gp", SMALL)), name)
    agent.offer(SOME)
    agent.act(seen)
    agent.save(tmp_path / "agent.json")
    assert SOME[agents.load(tmp_path / "agent.json").act(seen)]


@pytest.mark.parametrize("name", ["gp-ucb", "gp-ts", "epsilon-greedy"])
def test_first_plays_without_a_model_keep_to_what_is_allowed(name):
    agent, seen = played(BanditEnv(build("gp", {**SMALL, "publish_model": False})), name, 1)
    for _ in range(20):
        assert agent.offer(SOME)
        assert SOME[agent.act(seen)]


def test_a_box_cannot_be_restricted_to_arms():
    agent, _ = played(BanditEnv(build("gp", {"continuous": True, "horizon": 20})), "gp-ucb", 1)
    assert not agent.offer(SOME)
