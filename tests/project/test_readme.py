"""What the README says runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_blocks_of_the_readme_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), names)
    assert len(BLOCKS) >= 5
    assert (tmp_path / "regret.png").stat().st_size > 10_000


def test_every_id_and_agent_is_in_the_readme() -> None:
    import agents
    from bandit_envs.environment.registration import IDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ours = [name for name in agents.names() if hasattr(agents, name.replace("-", "_"))]
    assert [name for name in (*IDS, *ours) if f"`{name}`" not in text] == []
