"""`python -m bandit_envs` is `gpbandits`."""

from gpbandits.cli import main

main()
