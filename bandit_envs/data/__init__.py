"""Load real data: public measurements, found or downloaded, and tables of our own training runs."""

from bandit_envs.data.files import find, locate
from bandit_envs.data.tables import (
    Classification,
    Recordings,
    SVMTasks,
    TuningTable,
    breast_cancer,
    cmu_light,
    cnn_tuning,
    intel_temperature,
    logistic_tuning,
    pima_diabetes,
    tst_svm,
)
from bandit_envs.data.training import svm_accuracy, train_svm

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
