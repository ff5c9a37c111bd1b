"""A trial as what a notebook shows: an array that is a picture, and text that keeps its lines."""

from __future__ import annotations

from html import escape
from io import BytesIO

import numpy as np

from bandit_envs.basics.extras import from_extra


class Picture(np.ndarray):
    """An RGB array, (height, width, 3), that the cell of a notebook shows."""

    def _repr_png_(self) -> bytes | None:
        if self.ndim != 3 or self.shape[2] != 3 or self.dtype != np.uint8:
            return None  # a part of a picture is an array like any other
        with from_extra("eval", "pictures"):
            from PIL import Image

        file = BytesIO()
        Image.fromarray(np.ascontiguousarray(self)).save(file, format="PNG")
        return file.getvalue()


class Text(str):
    """Lines of equally wide letters that the cell of a notebook shows as such."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"
