"""What there is: the environments and the agents."""

from gpbandits.commands.terminal import print_rows


def envs() -> None:
    """List the environments."""
    from gpbandits.catalogue import environment_rows

    print_rows("Environments", ("id", "problem", "arms", "horizon", "box", "data"), environment_rows())


def agents() -> None:
    """List the agents."""
    from gpbandits.catalogue import agent_rows

    print_rows("Agents", ("name", "algorithm", "handles"), agent_rows())
