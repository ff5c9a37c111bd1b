"""The command line in a process that ends with the one that began it, however that one ends.

Who begins it holds the other end of its standard input and writes nothing there: the system closes it even
where the process is killed.
"""

import os
import signal
import sys
import threading

from gpbandits.cli import main


def _end_with_starter() -> None:
    sys.stdin.buffer.read()  # returns when nobody holds the other end
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_starter, daemon=True).start()
    main()
