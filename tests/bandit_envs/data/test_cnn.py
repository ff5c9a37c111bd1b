"""Tuning a convolutional network: the shipped table is what training gives, and training is PyTorch's."""

import sys

import numpy as np
import pytest
import torch
from torch import nn

from bandit_envs import data
from bandit_envs.data import training
from bandit_envs.data.training import REPLICATES, cnn_rows, digits, start, trained
from bandit_envs.laws import delays
from bandit_envs.problems import build


@pytest.fixture(autouse=True)
def one_epoch(request, monkeypatch):
    """Training that takes a moment, but where the shipped table is trained again."""
    training.train_cnn.cache_clear()
    if "shipped" not in request.node.name:
        monkeypatch.setattr(training, "EPOCHS", 1)
    yield
    training.train_cnn.cache_clear()


def network(weights, i):
    filters, shift, hidden, hidden_shift, out, out_shift = (w.detach()[i] for w in weights)
    layers = nn.Conv2d(1, 8, 3), nn.Linear(32, 8), nn.Linear(8, 10)
    given = (filters.T.reshape(8, 1, 3, 3), hidden.T, out.T), (shift[0], hidden_shift[0], out_shift[0])
    with torch.no_grad():
        for layer, weight, bias in zip(layers, *given, strict=True):
            layer.load_state_dict({"weight": weight, "bias": bias})
    conv, inner, last = layers
    return nn.Sequential(conv, nn.ReLU(), nn.MaxPool2d(3), nn.Flatten(), inner, nn.ReLU(), last)


@pytest.mark.long
def test_training_again_gives_the_shipped_rows():
    table = data.cnn_tuning()
    some = np.flatnonzero(table.values[:, 0] == 512)[[0, 60, 75]]
    _, step_size, decay = table.values[some].T
    again = cnn_rows(digits(), 512, step_size, decay, REPLICATES)
    # Sums of another order round otherwise, and training amplifies that: a few of 8 x 540 answers may differ.
    np.testing.assert_allclose(again[:, 3], table.accuracy[some], atol=0.01)


@pytest.mark.long
def test_networks_side_by_side_are_trained_as_each_alone_by_pytorch():
    part = digits()._replace(x=digits().x[:300], y=digits().y[:300])
    step_size, decay = np.array([0.01, 0.003]), np.array([0.5, 0.0])
    after = trained(part, 128, step_size, decay, replicate=3)
    before = start(np.random.default_rng([0, 3]), 2)
    x, y = torch.as_tensor(part.x).float()[:, None], torch.as_tensor(part.y)
    order = torch.as_tensor(np.random.default_rng([1, 3, 128]).permutation(300))
    for i in range(2):
        model, expected = network(before, i), network(after, i)
        adam = torch.optim.Adam(model.parameters(), lr=step_size[i])
        slower = torch.optim.lr_scheduler.LambdaLR(adam, lambda t, i=i: 1 / (1 + decay[i] * t))
        for batch in order.split(128):
            adam.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            adam.step()
            slower.step()
        for given, parameter in zip(model.parameters(), expected.parameters(), strict=True):
            torch.testing.assert_close(given, parameter, atol=1e-4, rtol=1e-3)


@pytest.mark.long
def test_a_replicate_has_a_start_of_its_own_which_its_settings_share():
    settings = np.array([0.01, 0.01]), np.array([0.0, 0.0])
    one, other = (trained(digits(), 512, *settings, replicate=i) for i in range(2))
    for w, another in zip(one, other, strict=True):
        torch.testing.assert_close(w[0], w[1])
        assert (w[0] - another[0]).abs().max() > 0.01


def test_one_run_a_setting_has_no_scatter():
    assert cnn_rows(digits(), 512, np.array([0.01]), np.array([0.0]), replicates=1)[0, 4] == 0.0


def test_the_problem_is_the_table_with_the_delays_of_the_paper():
    problem, table = build("cnn-tuning", {}), data.cnn_tuning()
    assert (problem.horizon, problem.delay) == (100, delays.PoissonDelay(10))
    np.testing.assert_array_equal(problem.draw(0).means.ravel(), table.accuracy)
    np.testing.assert_array_equal(problem.decisions.arms, table.unit)


def test_training_at_once_gives_the_table_of_its_shape():
    keywords = {"shape": [2, 2, 3], "replicates": 1, "train": True}
    means = build("cnn-tuning", keywords).draw(0).means.ravel()
    step_size, decay = np.array([1.0, 1.0]), np.array([1e-3, 1.0])
    np.testing.assert_allclose(means[-2:], cnn_rows(digits(), 512, step_size, decay, 1)[:, 3], atol=0.01)
    assert len(means) == 12


def test_torch_is_needed_for_training_alone_and_its_absence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    build("cnn-tuning", {})
    with pytest.raises(ModuleNotFoundError, match=r"torch.* need pip install 'gpbandits\[rl\]'"):
        build("cnn-tuning", {"train": True})
