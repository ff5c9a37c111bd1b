"""Evaluations in TensorBoard, MLflow and Trackio: `evaluate(..., callback=to_tensorboard("runs"))`."""

from gpbandits.tracking.trackers import Tracker, to_mlflow, to_tensorboard, to_trackio

__all__ = ["Tracker", "to_mlflow", "to_tensorboard", "to_trackio"]
