"""Run a command in a network of this machine alone.

    unshare --net python tools/without_network.py make test

A new network of Linux has its loopback down, and Slurm does not start where 127.0.0.1 is the only address.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
import sys

SET_FLAGS, SET_ADDRESS = 0x8914, 0x8916  # SIOCSIFFLAGS and SIOCSIFADDR of linux/sockios.h
UP = 0x49  # flags of an interface: up, loopback, running


def open_loopback() -> None:
    """Start the loopback and give it a second address where that is permitted."""
    second = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("127.0.0.2"))
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
        with contextlib.suppress(OSError):
            fcntl.ioctl(any_socket, SET_ADDRESS, second)


if __name__ == "__main__":
    open_loopback()
    os.execvp(sys.argv[1], sys.argv[1:])
