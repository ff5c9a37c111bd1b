"""Show a trial in notebooks: an array as a picture, and text with its line breaks."""

from __future__ import annotations

from html import escape
from io import BytesIO

import numpy as np

from bandit_envs.basics.extras import from_extra


class Picture(np.ndarray):
    """Hold an RGB array, (height, width, 3), that notebooks show as a picture."""

    def _repr_png_(self) -> bytes | None:
        if self.ndim != 3 or self.shape[2] != 3 or self.dtype != np.uint8:
            return None  # a slice of a picture is shown as an array
        with from_extra("eval", "pictures"):
            from PIL import Image

        file = BytesIO()
        Image.fromarray(np.ascontiguousarray(self)).save(file, format="PNG")
        return file.getvalue()


class Text(str):
    """Hold lines that notebooks show in a fixed-width font."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"
