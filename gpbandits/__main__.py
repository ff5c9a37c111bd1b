"""Run the command line with `python -m gpbandits`."""

from gpbandits.cli import main

main()
