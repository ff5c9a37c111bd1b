"""Threads that share a tuner wait for each other, and nothing that one of them tells is lost."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agents import Linear, Tuner
from agents.tuning.workers import UnsharedLock

SPACE = {f"x{i}": Linear(0, 1) for i in range(3)}


def test_what_is_told_while_another_thread_asks_is_kept():
    tuner = Tuner(SPACE, seed=0)
    questions = tuner.ask(30)
    for ticket, parameters in questions[:20]:
        tuner.tell(ticket, sum(parameters.values()))
    asking = threading.Thread(target=tuner.ask, args=(3,))
    asking.start()
    for ticket, _ in questions[20:]:
        tuner.tell(ticket, 1.0)
    asking.join()
    assert [each.state for each in tuner.experiments] == [*["told"] * 30, *["pending"] * 3]


@pytest.mark.long
def test_many_threads_each_tell_what_they_asked(tmp_path):
    tuner = Tuner(SPACE, agent="random")

    def work(number):
        for i in range(10):
            ticket, parameters = tuner.ask()
            if i % 5 == 4:
                tuner.fail(ticket)
            else:
                tuner.tell(ticket, sum(parameters.values()))
            tuner.save(tmp_path / f"{number}.json")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not tuner.pending
    assert len(tuner.experiments) == 80
    for each in tuner.experiments:
        assert each.state in ("failed", "told")
        assert each.value is None or each.value == sum(each.parameters.values())


def test_a_thread_may_take_its_own_turn_again_and_copies_have_their_own():
    turn = UnsharedLock()
    for other in (copy.deepcopy(turn), pickle.loads(pickle.dumps(turn))):
        assert other.lock is not turn.lock
        with turn.lock, turn.lock, other.lock:
            pass
    tuner = Tuner(SPACE, agent="random", seed=1)
    tuner.tell(tuner.ask()[0], 1.0)
    again = pickle.loads(pickle.dumps(tuner))
    assert again.ask() == copy.deepcopy(tuner).ask() == tuner.ask()
