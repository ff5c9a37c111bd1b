"""Tune with worker processes, and resume
======================================

Tune a real classifier with two worker processes, and resume a session that was interrupted.

The tuner says which experiment to do next while others are running: results come back in whatever order they
finish, a training that fails teaches where trainings fail, and all that is known is kept in one file. One
sees two sessions of 20 trainings each of a support-vector machine on scikit-learn's digits: the second goes
on where the first stopped, and ends with trying what the model takes for the best. The picture has the values
in the order of their delivery, and the best so far.
"""

from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from gpbandits import Categorical, Integer, Log, Tuner

SPACE = {
    "kernel": Categorical(["rbf", "poly", "sigmoid"]),
    "C": Log(1e-3, 1e3),
    "gamma": Log(1e-6, 1e-1),
    "degree": Integer(2, 6),
}
FILE = "tuner.json"


def error_rate(**parameters):
    """Three-fold cross-validation: the expensive experiment."""
    images, labels = load_digits(return_X_y=True)
    return 1.0 - cross_val_score(SVC(**parameters), images[:900], labels[:900], cv=3).mean()


tuner = Tuner(SPACE, goal="minimise", max_pending=2)
tuner.add({"kernel": "rbf", "C": 1.0, "gamma": 0.1, "degree": 3}, 0.9)  # known from before
tuner.optimise(error_rate, 20, workers=2, file=FILE)  # Ctrl-C or a kill would lose no more than what runs
print(f"After {len(tuner.experiments)} experiments: error rate {tuner.best.value:.4f}")

tuner = Tuner.load(FILE)
print(f"Resumed with {len(tuner.experiments)} experiments")
tuner.optimise(error_rate, 20, workers=2, file=FILE)
hope = tuner.recommend(anywhere=True)  # may lie where nothing was tried: try it before it is used
tuner.add(hope.parameters, error_rate(**hope.parameters))
answer = tuner.recommend()  # of what was tried, weighing all results by the model
low, high = answer.interval
print(f"Use {answer.parameters}: error rate {answer.mean:.4f}, with 95 % between {low:.4f} and {high:.4f}")
print(f"Best of {len(tuner.experiments)} experiments: error rate {tuner.best.value:.4f}")
Path(FILE).unlink()  # or keep it, and go on some other day
tuner.plot("history", path="tune_something_expensive.png")
