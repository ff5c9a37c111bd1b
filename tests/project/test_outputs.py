"""Tutorials show what their blocks print and draw."""

import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "outputs.py"), run_name="outputs")
TEXT = """Before.

```python
value = 3
print(value + 1)
```

Between.

```python
class Shown:
    def _repr_png_(self):
        return b"a picture"


Shown()
```

```python
value += 1
assert value == 4
```

After.
"""


def test_a_block_is_followed_by_what_it_prints_and_by_its_last_value(tmp_path):
    made = SCRIPT["with_outputs"](TEXT, tmp_path / "page")
    printed = made.index("```text\n4\n```")
    drawn = made.index("![The figure that the last line shows](/generated/tutorials/page/")
    assert made.index("value + 1") < printed < made.index("Between.") < drawn < made.index("value += 1")
    assert made.count("```text") == made.count("![") == 1
    (file,) = (tmp_path / "page").iterdir()
    assert file.read_bytes() == b"a picture"
    assert file.name in made


def test_a_block_that_raises_ends_the_build(tmp_path):
    with pytest.raises(ZeroDivisionError):
        SCRIPT["with_outputs"]("```python\n1 / 0\n```\n", tmp_path)
