"""`python -m bandit_envs` is `gpbandits`."""

from bandit_envs.cli import main

main()
