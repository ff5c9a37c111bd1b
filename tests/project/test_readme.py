"""What the README says runs."""

import re
from pathlib import Path
from typing import Any

import numpy as np
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


def test_the_template_credits_late_rewards_to_the_arms_that_earned_them() -> None:
    from gpbandits import check_agent, evaluate

    (block,) = [block for block in BLOCKS if "class EpsilonGreedy" in block]
    names: dict[str, Any] = {"np": np}
    exec(compile(block.partition("from gpbandits")[0], "README.md", "exec"), names)
    template = names["EpsilonGreedy"]
    check_agent(template)
    regret = evaluate("GPBandit-Delayed-v0", {"it": template, "random": "random"}, trials=8).regret
    assert regret["it"][:, -1].mean() < 0.5 * regret["random"][:, -1].mean()  # about 0.35; 0.95 otherwise


def test_every_id_and_agent_is_in_the_readme() -> None:
    import agents
    from bandit_envs.environment.registration import IDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    ours = [name for name in agents.names() if hasattr(agents, name.replace("-", "_"))]
    assert [name for name in (*IDS, *ours) if f"`{name}`" not in text] == []
