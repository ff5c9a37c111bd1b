"""Run the command line in a child process that ends when its parent ends, even if the parent is killed.

The parent holds the other end of standard input and writes nothing; the system closes it when that ends.
"""

import os
import signal
import sys
import threading

from gpbandits.cli import main


def _end_with_starter() -> None:
    sys.stdin.buffer.read()  # returns when the parent's end is closed
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_starter, daemon=True).start()
    main()
