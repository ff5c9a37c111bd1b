"""Every role in a trial draws from its own child of the trial's seed."""

import numpy as np

from agents.agent.generators import ROLES, Streams


def test_the_generators_of_a_role_are_those_that_spawn_makes_in_the_order_of_the_roles():
    seeds = [3, 2**40]
    streams = Streams(seeds)
    for i, seed in enumerate(seeds):
        children = np.random.SeedSequence(seed).spawn(len(ROLES))
        for role, child in zip(ROLES, children, strict=True):
            assert streams.of(role)[i].random() == np.random.default_rng(child).random()
        *_, third = children[ROLES.index("rule")].spawn(3)
        assert streams.of_round("rule", 2)[i].random() == np.random.default_rng(third).random()
    before = ["ties", "samples", "fits", "search", "rule", "belief", "objective", "restart", "turns"]
    assert [*ROLES[:9]] == before  # another order is another stream for each of them, and other plays


def test_the_generators_of_a_role_go_on_and_those_of_a_round_begin_again():
    streams = Streams([0])
    first, second = (streams.of("belief")[0].random() for _ in range(2))
    assert first != second
    again, other = (streams.of_round("rule", 1)[0].random() for _ in range(2))
    assert again == other != streams.of_round("rule", 2)[0].random()
