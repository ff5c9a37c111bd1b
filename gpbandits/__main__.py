"""`python -m gpbandits` is `gpbandits`."""

from gpbandits.cli import main

main()
