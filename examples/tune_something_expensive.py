"""Tune a real classifier with two worker processes, and resume a session that was interrupted.

The tuner says which experiment to do next while others are running: results come back in whatever order they
finish, a failed training is dropped, and all that is known is kept in one file. One sees two sessions of 20
trainings each of a support-vector machine on scikit-learn's digits: the second goes on where the first
stopped, and ends with trying what the model takes for the best.
"""

from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context

from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from agents import Categorical, Integer, Log, Tuner

SPACE = {
    "kernel": Categorical(["rbf", "poly", "sigmoid"]),
    "C": Log(1e-3, 1e3),
    "gamma": Log(1e-6, 1e-1),
    "degree": Integer(2, 6),
}
WORKERS, FILE = 2, "tuner.json"


def error_rate(parameters):
    """Three-fold cross-validation: the expensive experiment."""
    images, labels = load_digits(return_X_y=True)
    return 1.0 - cross_val_score(SVC(**parameters), images[:900], labels[:900], cv=3).mean()


def session(tuner, experiments):
    """Keep the workers busy until so many experiments are over."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        running = {
            pool.submit(error_rate, parameters): ticket for ticket, parameters in tuner.pending.items()
        }
        left = experiments - len(running)
        while running or left > 0:
            while left > 0 and len(running) < WORKERS:
                ticket, parameters = tuner.ask()
                running[pool.submit(error_rate, parameters)] = ticket
                left -= 1
            for experiment in wait(running, return_when=FIRST_COMPLETED).done:
                ticket = running.pop(experiment)
                if experiment.exception():
                    tuner.drop(ticket)
                else:
                    tuner.tell(ticket, experiment.result())
                tuner.save(FILE)


if __name__ == "__main__":  # worker processes import this file
    tuner = Tuner(SPACE, goal="minimise", max_pending=WORKERS)
    tuner.add({"kernel": "rbf", "C": 1.0, "gamma": 0.1, "degree": 3}, 0.9)  # known from before
    session(tuner, 20)
    print(f"After {len(tuner.experiments)} experiments: error rate {tuner.best.value:.4f}")

    tuner = Tuner.load(FILE)
    print(f"Resumed with {len(tuner.experiments)} experiments")
    session(tuner, 20)
    hope = tuner.recommend(anywhere=True)  # may lie where nothing was tried: try it before it is used
    tuner.add(hope.parameters, error_rate(hope.parameters))
    answer = tuner.recommend()  # of what was tried, weighing all results by the model
    low, high = answer.interval
    print(
        f"Use {answer.parameters}: error rate {answer.mean:.4f}, with 95 % between {low:.4f} and {high:.4f}"
    )
    print(f"Best of {len(tuner.experiments)} experiments: error rate {tuner.best.value:.4f}")
