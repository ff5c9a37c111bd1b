"""The name `agents` is common: another package of that name is reported before it is imported."""

from importlib.util import find_spec
from pathlib import Path


def check_not_shadowed() -> None:
    """Raise an ImportError if `import agents` would find another project's package.

    Ours lies beside this package, in a wheel as in a checkout; inside a zip file the paths are compared.
    """
    spec = find_spec("agents")
    if spec is None:
        raise ImportError("the package 'agents' of gpbandits is missing; install gpbandits again")
    place = spec.origin or next(iter(spec.submodule_search_locations or ()), "an unknown place")
    ours = Path(__file__).parents[1] / "agents" / "__init__.py"
    if Path(place) != ours and not (Path(place).exists() and ours.exists() and ours.samefile(place)):
        raise ImportError(
            f"another package named 'agents', at {place}, hides that of gpbandits; rename or move it, "
            "or start Python from another folder"
        )
