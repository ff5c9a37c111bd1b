"""A conda channel on disk, packed from the Python and the distributions that are installed here."""

from __future__ import annotations

import asyncio
import shutil
import sys
import sysconfig
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

LIBRARY = f"lib/python{sysconfig.get_python_version()}"
UNUSED = shutil.ignore_patterns("site-packages", "__pycache__", "test", "idlelib", "tkinter", "*.a")
PIP = "#!/usr/bin/env python\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n"


def make_channel(folder: Path, wanted: list[str]) -> str:
    """Pack Python, what is wanted and all that this needs; the channel's address."""
    from rattler import Subdir
    from rattler.index import index_fs
    from rattler_build import assemble_package

    platform = str(Subdir.current())
    into = folder / "channel" / platform
    into.mkdir(parents=True)

    def pack(name: str, version: str, depends: list[str]) -> None:
        staged = folder / "staged" / name
        assemble_package(
            name, version, platform, "here_0", into, files_dir=staged, depends=depends, compression_level=1
        )

    _stage_python(folder / "staged" / "python")
    pack("python", ".".join(map(str, sys.version_info[:3])), [])
    for name, found in _closure(wanted).items():
        _stage(found, folder / "staged" / name)
        pack(name, found.version, [f"python {sysconfig.get_python_version()}.*", *_needs(found)])
    asyncio.run(index_fs(folder / "channel"))
    return (folder / "channel").as_uri()


def _closure(wanted: list[str]) -> dict[str, Distribution]:
    """The distributions by the names that conda gives them."""
    found: dict[str, Distribution] = {}
    names = list(wanted)
    while names:
        name = names.pop()
        if name not in found:
            found[name] = distribution(name.removesuffix("-base"))  # matplotlib-base has no windows
            names += _needs(found[name])
    return found


def _needs(found: Distribution) -> list[str]:
    """Names of what a distribution requires here, without extras."""
    requirements = [Requirement(line) for line in found.requires or []]
    return [
        each.name.lower().replace("_", "-")
        for each in requirements
        if each.marker is None or each.marker.evaluate({"extra": ""})
    ]


def _stage_python(staged: Path) -> None:
    """The interpreter and its standard library, where they lie in any prefix."""
    shutil.copytree(sysconfig.get_path("stdlib"), staged / LIBRARY, symlinks=True, ignore=UNUSED)
    (staged / "bin").mkdir()
    interpreter = Path(sys.base_prefix, "bin", f"python{sysconfig.get_python_version()}")
    shutil.copy(interpreter, staged / "bin")
    for name in ("python", "python3"):
        (staged / "bin" / name).symlink_to(interpreter.name)
    shared = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
    if ".so" in shared.name:
        shutil.copy(shared, staged / "lib")


def _stage(found: Distribution, staged: Path) -> None:
    """The files of a distribution in site-packages; of commands that of pip alone, for any prefix."""
    for file in found.files or []:
        if ".." not in file.parts and "__pycache__" not in file.parts:
            place = staged / LIBRARY / "site-packages" / str(file)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(found.locate_file(file)), place)
    if found.name == "pip":
        (staged / "bin").mkdir()
        (staged / "bin" / "pip").write_text(PIP, encoding="utf-8")
        (staged / "bin" / "pip").chmod(0o755)
