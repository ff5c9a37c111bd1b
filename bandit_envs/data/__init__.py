"""Load real data: public measurements, found or downloaded, and tables of our own training runs."""

from bandit_envs.data.classification import Classification, breast_cancer, pima_diabetes
from bandit_envs.data.files import find, locate
from bandit_envs.data.recordings import Recordings, cmu_light, intel_temperature
from bandit_envs.data.svm_tasks import SVMTasks, tst_svm
from bandit_envs.data.svm_tuning import svm_accuracy, train_svm
from bandit_envs.data.tuning import TuningTable, cnn_tuning, logistic_tuning

__all__ = [
    "Classification",
    "Recordings",
    "SVMTasks",
    "TuningTable",
    "breast_cancer",
    "cmu_light",
    "cnn_tuning",
    "find",
    "intel_temperature",
    "locate",
    "logistic_tuning",
    "pima_diabetes",
    "svm_accuracy",
    "train_svm",
    "tst_svm",
]
