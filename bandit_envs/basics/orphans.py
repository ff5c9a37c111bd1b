"""Worker processes end soon after the process that started them, which says nothing when it is killed."""

import os
import threading
import time

PATIENCE = 0.5  # seconds between two looks at the parent


def end_with(parent: int) -> None:
    """End this process within a second after its parent, given by its id; call it as a worker begins.

    A thread looks at the parent. Linux could send a signal instead (PR_SET_PDEATHSIG), but sends it already
    at the end of the thread that started the worker, whose pool may be used by other threads. On Windows,
    where a process keeps the id of an ended parent, it does nothing.
    """
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PATIENCE)
    os._exit(1)
