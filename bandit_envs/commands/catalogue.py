"""What there is: the environments and the agents."""

from bandit_envs.catalogue import agent_rows, environment_rows
from bandit_envs.commands.terminal import print_rows


def envs() -> None:
    """List the environments."""
    print_rows("Environments", ("id", "problem", "arms", "horizon", "box", "data"), environment_rows())


def agents() -> None:
    """List the agents."""
    print_rows("Agents", ("name", "algorithm", "handles"), agent_rows())
