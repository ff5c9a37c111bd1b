"""Files of a film: a GIF, a page with a slider, or an MP4."""

from __future__ import annotations

import os
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from bandit_envs.basics.arguments import ArgumentError, from_extra
from bandit_envs.basics.files import write_whole

KINDS = (".gif", ".html", ".mp4")
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 16px/1.4 sans-serif; max-width: 640px; margin: 1em auto; padding: 0 8px; }}
  img {{ width: 100%; border-radius: 4px; }}
  form {{ display: flex; gap: 8px; align-items: center; }}
  input {{ flex: 1; min-width: 0; }}
</style>
</head>
<body>
<img id="picture" alt="{title}" src="{first}">
<form><button type="button" id="play">Play</button>
<input type="range" id="slider" aria-label="picture" min="1" max="{length}" value="1">
<output id="number" for="slider">1 of {length}</output></form>
<script>
const pictures = [{pictures}];
const [picture, slider, number, play] = ["picture", "slider", "number", "play"].map(
  name => document.getElementById(name));
function show() {{
  picture.src = pictures[slider.value - 1];
  number.value = slider.value + " of " + pictures.length;
}}
let timer = null;
function stop() {{ clearInterval(timer); timer = null; play.textContent = "Play"; }}
function step() {{
  if (slider.value == pictures.length) return stop();
  slider.value++;
  show();
}}
slider.oninput = () => {{ stop(); show(); }};
play.onclick = () => {{
  if (timer) return stop();
  if (slider.value == pictures.length) {{ slider.value = 1; show(); }}
  timer = setInterval(step, {wait});
  play.textContent = "Pause";
}};
</script>
</body>
</html>
"""


def make_folder_of(path: str | os.PathLike[str]) -> None:
    """Make the folder of a film's file, or raise if the path has another suffix or cannot be written."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"the path of a film must end in {', '.join(KINDS)}, got {path}")
    if kind == ".mp4":
        encoder()
    Path(path).parent.mkdir(parents=True, exist_ok=True)


def write_film(gif: bytes, fps: float, title: str, path: str | os.PathLike[str]) -> None:
    """Write a film, given as a GIF, to a file of the kind that its suffix names."""
    make_folder_of(path)
    kind = Path(path).suffix.lower()
    if kind == ".gif":
        write_whole(path, gif)
    elif kind == ".html":
        write_whole(path, slider_page(gif, fps, title).encode())
    else:
        _write_video(gif, fps, path)


def slider_page(gif: bytes, fps: float, title: str) -> str:
    """Return a page of its own, without any other file, on which a slider chooses the picture."""
    each = [f"data:image/png;base64,{b64encode(_png(picture)).decode()}" for picture in _pictures(gif)]
    listed = ",\n".join(f'"{picture}"' for picture in each)
    return PAGE.format(
        title=escape(title), first=each[0], length=len(each), pictures=listed, wait=round(1000.0 / fps)
    )


def encoder() -> str:
    """Return the path of ffmpeg, which encodes videos, or raise with the remedy."""
    found = shutil.which("ffmpeg")
    if found is None and find_spec("imageio_ffmpeg") is not None:
        found = import_module("imageio_ffmpeg").get_ffmpeg_exe()
    if found is None:
        words = "can be .mp4 where ffmpeg is installed; pip install imageio-ffmpeg, or save a .gif or .html"
        raise ArgumentError("path", words)
    return found


def _pictures(gif: bytes) -> Iterator[Any]:
    with from_extra("eval", "films"):
        from PIL import Image, ImageSequence

    with Image.open(BytesIO(gif)) as film:
        for picture in ImageSequence.Iterator(film):
            yield picture.convert("RGB")


def _png(picture: Any) -> bytes:
    file = BytesIO()
    picture.quantize(256).save(file, "PNG", optimize=True)
    return file.getvalue()


def _write_video(gif: bytes, fps: float, path: str | os.PathLike[str]) -> None:
    pictures = list(_pictures(gif))
    width, height = pictures[0].size
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-"]
    made = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    command = [encoder(), "-loglevel", "error", "-y", *given, *made, os.fspath(path)]
    frames = b"".join(picture.tobytes() for picture in pictures)
    done = subprocess.run(command, input=frames, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ffmpeg could not write {path}: {done.stderr.decode(errors='replace').strip()}")
