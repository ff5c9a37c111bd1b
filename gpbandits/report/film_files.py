"""Films and their files: a GIF, a page with a slider, or an MP4; and strips of some rounds for print."""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bandit_envs.basics.arguments import ArgumentError, from_extra, is_count, is_number, require
from bandit_envs.basics.files import write_whole
from bandit_envs.rendering.scene import Scene, shared_limits
from gpbandits.report.chart import rendered

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = 128  # of a picture
HOLD = 3  # the last frame is shown so many times as long as the others

KINDS = (".gif", ".html", ".mp4")


class Film:
    """A film is an endless GIF, which a notebook displays.

    Attributes:
        rows: the scenes that its pictures show of each agent.
        scenes: all of them, one agent after another.

    Args:
        samples: some of the pictures, from which the colours of all are chosen; a palette for each picture
            makes a pale band flicker.
        more: returns the scenes of each agent before the plays of other rounds, the first of which is 0.
    """

    def __init__(
        self,
        pictures: Iterable[NDArray[np.uint8]],
        samples: Iterable[NDArray[np.uint8]],
        fps: float,
        rows: Sequence[Sequence[Scene]],
        more: Callable[[Sequence[int]], list[list[Scene]]],
    ):
        self.fps = fps
        with from_extra("eval", "films"):
            from PIL import Image

        # The default palette gives a small star the colour of the many plays around it.
        of, plain = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
        palette = Image.fromarray(np.vstack(list(samples))).quantize(COLOURS, of, kmeans=1)  # as drawn
        first, *others = (
            Image.fromarray(picture).quantize(palette=palette, dither=plain) for picture in pictures
        )
        times = [round(1000 / fps)] * len(others) + [round(HOLD * 1000 / fps)]
        file = BytesIO()
        first.save(file, "GIF", save_all=True, append_images=others, duration=times, loop=0)
        self.gif, self.length, self._more = file.getvalue(), 1 + len(others), more
        self.rows = [list(row) for row in rows]
        self.scenes = [scene for row in self.rows for scene in row]

    def strip(self, rounds: Sequence[int]) -> Figure:
        """Return a figure for print, 6.9 inches wide, of the choices in some rounds, the first of which is 1.

        Args:
            rounds: of the trial; it is run again for those that the film does not show.
        """
        from bandit_envs.rendering.picture import strip

        shown = [{scene.total + 1: scene for scene in row} for row in self.rows]
        listed = list(rounds) if isinstance(rounds, Iterable) and not isinstance(rounds, str) else []
        last = min(max(row) for row in shown)
        usable = len(listed) > 0 and all(is_count(each) and each <= last for each in listed)
        require(usable, "rounds", f"a list of some of 1..{last}", rounds)
        lacking = sorted(set(listed) - set.intersection(*map(set, shown)))
        if lacking:
            for row, found in zip(shown, self._more([each - 1 for each in lacking]), strict=True):
                row.update({scene.total + 1: scene for scene in found})
        limits = shared_limits([[*row.values()] for row in shown])
        return strip([[row[each] for each in listed] for row in shown], limits)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .gif, an .mp4, or an .html page with a slider; its folder is made if it is missing."""
        titles = dict.fromkeys(row[0].title or row[0].name for row in self.rows)
        write_film(self.gif, self.fps, ", ".join(titles), path, len(self.rows))

    def __repr__(self) -> str:
        return f"Film({self.length} pictures)"

    def _repr_html_(self) -> str:
        return f'<img alt="{self!r}" src="data:image/gif;base64,{b64encode(self.gif).decode()}">'


def check_speed(fps: float) -> None:
    """Raise unless a frame rate is a positive number."""
    require(is_number(fps) and fps > 0, "fps", "a positive number", fps)


def make_folder_of(path: str | os.PathLike[str]) -> None:
    """Make the folder of a film's file, or raise if the path has another suffix or cannot be written."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"the path of a film must end in {', '.join(KINDS)}, got {path}")
    if kind == ".mp4":
        encoder(path)
    Path(path).parent.mkdir(parents=True, exist_ok=True)


def write_film(gif: bytes, fps: float, title: str, path: str | os.PathLike[str], agents: int = 1) -> None:
    """Write a film, given as a GIF of agents side by side, to a file of the kind that its suffix names."""
    make_folder_of(path)
    kind = Path(path).suffix.lower()
    if kind == ".gif":
        write_whole(path, gif)
    elif kind == ".html":
        write_whole(path, slider_page(gif, fps, title, agents).encode())
    else:
        _write_video(gif, fps, path)


def slider_page(gif: bytes, fps: float, title: str, agents: int = 1) -> str:
    """Return a page of its own, without any other file, on which a slider chooses the picture.

    Pictures of several agents are side by side on a wide screen, and one below another on a phone.
    """
    pictures, each = list(_pictures(gif)), []
    width = pictures[0].width // agents
    for picture in pictures:
        for i in range(agents):
            file = BytesIO()
            part = picture.crop((i * width, 0, (i + 1) * width, picture.height))
            part.quantize(256).save(file, "PNG", optimize=True)
            each.append(f"data:image/png;base64,{b64encode(file.getvalue()).decode()}")
    values = {"title": title, "firsts": each[:agents], "pictures": each, "length": len(each) // agents}
    return rendered("gpbandits.report", "film.html", **values, width=width * agents, wait=round(1000.0 / fps))


def encoder(path: str | os.PathLike[str]) -> str:
    """Return the path of ffmpeg, which encodes the video of a path, or raise with the remedy."""
    found = shutil.which("ffmpeg")
    if found is None and find_spec("imageio_ffmpeg") is not None:
        found = import_module("imageio_ffmpeg").get_ffmpeg_exe()
    if found is None:
        remedy = "pip install imageio-ffmpeg, or save a .gif or .html"
        raise ArgumentError("path", f"can be .mp4 where ffmpeg is installed, got {path}; {remedy}")
    return found


def _pictures(gif: bytes) -> Iterator[Any]:
    with from_extra("eval", "films"):
        from PIL import Image, ImageSequence

    with Image.open(BytesIO(gif)) as film:
        for picture in ImageSequence.Iterator(film):
            yield picture.convert("RGB")


def _write_video(gif: bytes, fps: float, path: str | os.PathLike[str]) -> None:
    pictures = list(_pictures(gif))
    width, height = pictures[0].size
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
    made = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    command = [encoder(path), "-loglevel", "error", "-y", *given, *made, os.fspath(path)]
    frames = b"".join(picture.tobytes() for picture in pictures)
    done = subprocess.run(command, input=frames, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ffmpeg could not write {path}: {done.stderr.decode(errors='replace').strip()}")
