"""Misspecified, corrupted and heavy-tailed rewards, adversarial perturbations, and risk."""

import math

import numpy as np

from bandit_envs.basics.types import Floats

from .formulas import amm_width, information_gain, posterior
from .seen import Given, Seen


def widened(given: Given, seen: Seen, kind: str, sharp: bool, amount: float, delta: float = 0.1) -> Floats:
    """mu + w sigma + extra, w of AMM: |f - f_0| <= eps ("ec") or corruption of at most C in sum ("rgp").

    The papers' extras are eps sqrt((t-1) / lambda) sigma and C / sqrt(lambda) sigma (Bogunovic & Krause 2021;
    Bogunovic et al. 2020, 2022); the sharp ones eps / lambda sum_s |S(x, x_s)|, C / lambda max_s |S(x, x_s)|.
    """
    f, x = given.reward, seen.played
    mean, S = posterior(f.gram, f.noise, x, seen.value - f.at(x))
    std = np.sqrt(np.diag(S))
    shifts = np.abs(S[:, x]) / f.noise
    match kind, sharp:
        case "ec", False:
            extra = amount * math.sqrt(len(x) / f.noise) * std
        case "rgp", False:
            extra = amount / math.sqrt(f.noise) * std
        case "ec", True:
            extra = amount * shifts.sum(axis=1)
        case _:
            extra = amount * shifts.max(axis=1, initial=0.0)
    width = amm_width(f.bound, f.noise_std, f.noise, information_gain(f.gram, f.noise, x), delta)
    return f.mean + mean + width * std + extra


def tgp_ucb(given: Given, seen: Seen, alpha: float, moment: float, delta: float = 0.1) -> Floats:
    """y_s 1[|y_s| <= b_s], b_t = v^(1/(1+a)) t^(1/(2(1+a))) (Ray Chowdhury & Gopalan 2019).

    w = B + b_T / sqrt(lambda) (sqrt(1 + a) + sqrt(2 (g + ln(1 / delta)))), proved in the formula sheet.
    """
    f, x = given.reward, seen.played
    b = moment ** (1 / (1 + alpha)) * np.arange(1, given.horizon + 1) ** (1 / (2 * (1 + alpha)))
    y = np.where(np.abs(seen.value) <= b[: seen.t - 1], seen.value, 0.0)
    mean, std = f.of(x, y)
    gain = information_gain(f.gram, f.noise, x)
    tail = math.sqrt(1 + alpha) + math.sqrt(2 * (gain + math.log(1 / delta)))
    return mean + (f.bound + b[-1] / math.sqrt(f.noise) * tail) * std


def stable_opt(given: Given, seen: Seen, eps: float, width: float) -> Floats:
    """-lf on the ball of radius eps around argmax_x min over its ball of uf (Bogunovic et al. 2018)."""
    mean, std = given.reward.of(seen.played, seen.value)
    upper, lower = mean + width * std, mean - width * std
    arms = given.setting.arms
    near = np.linalg.norm(arms[:, None] - arms, axis=2) <= eps
    worst = np.where(near, upper, np.inf).min(axis=1)
    centres = worst >= worst.max() - 1e-9 * given.reward.scale  # ties may go to any of them
    return np.where(near[centres].any(axis=0), -lower, -np.inf)
