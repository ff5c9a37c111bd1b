"""Plain forms of what `gpbandits.logs` computes, row by row."""

from __future__ import annotations


def replay(rows, uniform):
    """Rows are (reward, probability under the policy, propensity)."""
    weights = [chance / propensity for _, chance, propensity in rows]
    largest = max(weights)
    kept = [row[0] for row, w, u in zip(rows, weights, uniform, strict=True) if u < w / largest]
    return sum(kept) / len(kept)


def ips(rows):
    return sum(reward * chance / propensity for reward, chance, propensity in rows) / len(rows)


def snips(rows):
    weights = [chance / propensity for _, chance, propensity in rows]
    return sum(w * row[0] for w, row in zip(weights, rows, strict=True)) / sum(weights)


def switch(rows, probabilities, predicted, actions, tau):
    """Probabilities and predictions are of all actions in each row's context; tau = inf is doubly robust."""
    total = 0.0
    for (reward, chance, propensity), pi, q, action in zip(
        rows, probabilities, predicted, actions, strict=True
    ):
        total += sum(p * value for p, value in zip(pi, q, strict=True))
        weight = chance / propensity
        if weight <= tau:
            total += weight * (reward - q[action])
    return total / len(rows)


def switch_error(weights, rewards, predicted, tau):
    """Estimated variance and squared bound on the bias of switch, where the model's values are 0."""
    n = len(weights)
    terms = [w * (r - q) if w <= tau else 0.0 for w, r, q in zip(weights, rewards, predicted, strict=True)]
    mean = sum(terms) / n
    variance = sum((term - mean) ** 2 for term in terms) / n**2
    return variance + ((max(rewards) - min(rewards)) * sum(w for w in weights if w > tau) / n) ** 2


def kaplan_meier(delays, delivered):
    """The weight of each row: the fall of the product-limit estimate at its delay, times n, of mean 1."""
    weights, survival = [0.0] * len(delays), 1.0
    for t in sorted(set(delays)):
        at_risk = sum(delay >= t for delay in delays)
        events = [i for i, delay in enumerate(delays) if delay == t and delivered[i]]
        for i in events:
            weights[i] = survival / at_risk
        survival *= 1.0 - len(events) / at_risk
    return [len(delays) * weight / sum(weights) for weight in weights]


def replayed(agent, rows, passes, observation):
    """Rows (action, reward) that an agent without delays accepts, in one context; it sees no others."""
    kept = []
    choice = agent.act(observation)
    for i, (action, reward) in enumerate(rows):
        if choice == action and passes[i]:
            agent.learn(observation, choice, reward, len(kept))
            kept.append(i)
            choice = agent.act(observation)
    return kept
