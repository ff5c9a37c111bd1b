"""Files that were forged or damaged are refused, and nothing in them runs."""

import json
import os
import subprocess
import tracemalloc
import zlib
from base64 import b64encode

import numpy as np
import pytest
from players import FirstArm
from sklearn.gaussian_process.kernels import RBF

import agents
from agents import Integer, Linear, Tuner
from agents.saving import encode, files, read, write
from agents.saving.files import FORMATS
from agents.tuning import PreferenceTuner
from bandit_envs import Setting
from bandit_envs.laws.delays import PoissonDelay

AGENT, TUNER, _ = files.FORMATS
SETTING = Setting(
    arms=np.linspace(0, 1, 5)[:, None], kernel=RBF(0.2), horizon=9, max_delay=2, delay=PoissonDelay(mean=1.0)
)


class Own(FirstArm):
    """An agent of one's own, which no package has registered."""

    def __init__(self, setting, arm=0):
        super().__init__(setting)
        self.arm = arm

    def act(self, observation):
        return self.arm


PATH = f"{__name__}:Own"


def save_agent(file, name="gp-bucb", **options):
    agent = agents.make(name, SETTING, **options)
    agent.reset(1)
    for _ in range(3):
        action = agent.act(np.zeros(1))
        info = {"feedback_mask": np.zeros(3, bool), "feedback_step": np.zeros(3, int)}
        agent.update(np.zeros(1), action, 0.0, {**info, "feedback_reward": np.zeros(3)})
    agent.save(file)
    return agent


def save_tuner(file, agent="random"):
    tuner = Tuner({"x": Integer(1, 9)}, agent=agent)
    for _ in range(3):
        tuner.tell(tuner.ask()[0], 0.5)
    tuner.ask()
    tuner.save(file)
    return tuner


def saved(form, file):
    (save_agent if form == AGENT else save_tuner)(file)
    return read(file, form)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file.json"


@pytest.fixture
def nothing_runs(file, monkeypatch):
    def run(*arguments, **keywords):
        raise AssertionError("a file has run something")

    for place, name in [(subprocess, "Popen"), (os, "system"), (os, "rmdir")]:
        monkeypatch.setattr(place, name, run)


STRANGERS = ["subprocess:Popen", "os:system", "os:rmdir", PATH]


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("path", STRANGERS)
def test_a_class_path_in_the_file_of_an_agent_is_not_followed(path, file):
    for setting in (["sh", "-c", "true"], "true", encode(SETTING)):
        content = saved(AGENT, file)
        made = {"name": path, "setting": None, "num_trials": None, "options": {}}
        content["made"] = encode(made)
        content["made"]["items"][1][1] = setting
        write(file, AGENT, content)
        with pytest.raises(ValueError, match=r"agent"):
            agents.load(file)


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("path", STRANGERS)
@pytest.mark.parametrize("options", [{}, {"cmd": "true"}])
def test_a_class_path_in_the_file_of_a_tuner_is_not_followed(path, options, file):
    content = saved(TUNER, file)
    for agent in (path, (path, options)):
        content["plan"]["agent"] = encode(agent)
        write(file, TUNER, content)
        with pytest.raises(
            ValueError, match=f"the agent is '{path}', not a registered name.* pass trust=True"
        ):
            agents.load(file)


def test_a_class_path_is_followed_where_the_file_is_trusted(file):
    agent = save_agent(file, PATH, arm=3)
    with pytest.raises(ValueError, match="trust=True"):
        agents.load(file)
    assert agents.load(file, trust=True).act(0) == agent.act(0) == 3
    file.unlink()  # a tuner does not save over an agent
    tuner = save_tuner(file, (PATH, {"arm": 3}))
    with pytest.raises(ValueError, match="trust=True"):
        Tuner.load(file)
    assert Tuner.load(file, trust=True).experiments == tuner.experiments


def test_trust_does_not_extend_to_what_is_no_setting(file, nothing_runs):
    content = saved(AGENT, file)
    made = {"name": "subprocess:Popen", "setting": ["sh", "-c", "true"], "num_trials": None, "options": {}}
    write(file, AGENT, {**content, "made": encode(made)})
    with pytest.raises(
        ValueError, match=r"setting of an agent in the file must be Setting, got \['sh', '-c', 'true'\]"
    ):
        agents.load(file, trust=True)


def part(kind, name, **arguments):
    return {"type": kind, "class": name, "arguments": arguments}


RAW = {
    "setting field": (
        part("setting", "setting", arms="x"),
        "arms of a setting .* numbers or None, got 'x'",
    ),
    "setting kernel": (part("setting", "setting", kernel="os:system"), "Kernel or None, got 'os:system'"),
    "setting switch": (part("setting", "setting", may_change="no"), "may_change .* True or False, got 'no'"),
    "setting horizon": (part("setting", "setting", horizon=2.5), "must be an integer, got 2.5"),
    "setting stranger": (part("setting", "setting", path="x"), "'path', which this version"),
    "setting list": ({"type": "setting", "class": "setting", "arguments": []}, "is damaged"),
    "delay text": (
        part("delay", "poisson", mean="x"),
        "a law of delays poisson .* a number, got 'x'",
    ),
    "kernel of text": (part("kernel", "Product", k1="rbf", k2="rbf"), "k1 of a kernel Product .* be Kernel"),
    "kernel stranger": (part("kernel", "Product", k3=1), "a kernel Product with 'k3'"),
    "kernel number": (part("kernel", "RBF", length_scale="x"), "length_scale .* RBF .* numbers, got 'x'"),
    "kernel unnamed": (part("kernel", []), "is damaged"),
    "type": ({"type": ["kernel"]}, "data of type"),
    "float": ({"type": "float", "value": "1e5"}, "data of type 'float'"),
    "shape": ({"type": "array", "dtype": "<f8", "shape": [-1], "zlib": ""}, "a shape is a list of sizes"),
    "dtype": ({"type": "array", "dtype": "(9,)f8", "shape": [], "zlib": ""}, "only numbers are data"),
    "base64": ({"type": "array", "dtype": "<f8", "shape": [0], "zlib": "%"}, "is damaged"),
    "zlib": ({"type": "array", "dtype": "<f8", "shape": [0], "zlib": "aaaa"}, "is damaged"),
    "unhashable": ({"type": "dict", "items": [[[], 1]]}, "is damaged"),
    "not pairs": ({"type": "dict", "items": 3}, "is damaged"),
}


@pytest.mark.parametrize(("data", "message"), RAW.values(), ids=RAW)
@pytest.mark.parametrize("form", [AGENT, TUNER])
def test_fields_have_their_types_before_anything_is_built(form, data, message, file):
    content = saved(form, file)
    if form == AGENT:
        content["made"]["items"][1][1] = data
    else:
        content["plan"]["agent"] = encode(("random", {}))
        content["plan"]["agent"]["items"][1]["items"] = [["kernel", data]]
    write(file, form, content)
    with pytest.raises(ValueError, match=message) as raised:
        agents.load(file)
    assert str(file) in str(raised.value)


PARTS = [
    (AGENT, "made", encode({}), "an agent without 'name'"),
    (AGENT, "made", [], "an agent in the file must be a dict"),
    (AGENT, "made", None, "is damaged"),
    (AGENT, "calls", None, "is damaged"),
    (AGENT, "calls", 3, "is damaged"),
    (AGENT, "calls", [3], "is damaged"),
    (AGENT, "calls", [[["reset"], []]], "is damaged"),
    (AGENT, "calls", [[["reset"], encode({})]], "is damaged"),
    (AGENT, "calls", [[["reset"], encode({"reset": []})]], "is damaged"),
    (AGENT, "calls", [[["reset"], encode({"reset": [3]})]], "does not play again"),
    (AGENT, "calls", [[["dance"], encode({"dance": {"seed": [3]}})]], "is damaged"),
    (AGENT, "calls", [[["save"], encode({"save": {"path": ["x"]}})]], "is damaged"),
    (AGENT, "calls", [[["act"], encode({"act": {"observation": [0.0]}})]], "does not play again"),
    (AGENT, "calls", [[["drop"], encode({"drop": {"rounds": [0], "trial": []}})]], "argument 2 is shorter"),
    (TUNER, "plan", None, "is damaged"),
    (TUNER, "plan", [], "is damaged"),
    (TUNER, "plan", {}, "is damaged"),
    (TUNER, "plan seed", "x", "seed of a tuner in the file must be an integer, got 'x'"),
    (TUNER, "plan standardise", "no", "standardise of a tuner in the file must be .* got 'no'"),
    (TUNER, "plan budget", 2.5, "budget of a tuner in the file must be .* got 2.5"),
    (TUNER, "plan constraints", "cost", "constraints of a tuner in the file must be .* got 'cost'"),
    (TUNER, "plan agent", 3, "agent of a tuner in the file must be .* got 3"),
    (TUNER, "plan factory", "os:system", "a tuner with 'factory'"),
    (TUNER, "plan parameters", [["x", "os", {}]], "damaged"),
    (TUNER, "plan contexts", [["x", "Integer", {"kind": 1}]], "an? Integer with 'kind'"),
    (TUNER, "rounds", 3, "is damaged"),
    (TUNER, "rounds", [1], "a round in the file must be a dict, got 1"),
    (TUNER, "rounds", [{}], "a round without 'anew'"),
    (TUNER, "rounds 1 ticket", 7, "ticket must be 1, got 7"),
    (TUNER, "rounds 1 arrivals", [[2, 0.5, [], None, None]], "over must be a pending one, got 2"),
    (TUNER, "rounds 1 arrivals", [[1, 0.5, []]], "arrivals of a round in the file must be list"),
    (TUNER, "rounds 1 arrivals", [[1, "one", [], None, None]], "arrivals of a round .* must be list"),
    (TUNER, "rounds 1 arrivals", [[1, 0.5, ["inf"], None, None]], "arrivals of a round .* must be list"),
    (TUNER, "rounds 1 arrivals", [[1, 0.5, [1.0], None, None]], "argument 2 is longer"),
    (TUNER, "rounds 1 dropped", [0], "a round that is over must be a pending one, got 0"),
    (TUNER, "rounds 1 context", [], "context of a round in the file must be a dict of names"),
    (TUNER, "rounds 1 parameters", {"x": 1e99}, r"parameters\['x'\] must be"),
    (TUNER, "rounds 1 parameters", {"y": 1}, "parameters must be exactly 'x', got"),
    (TUNER, "rounds 1 proposed", {"x": "a"}, r"parameters\['x'\] must be"),
    (TUNER, "rounds 1 only", [{"y": 1}], r"only\[0\] must be a dict of some of"),
    (TUNER, "rounds 1 corrected", [[0, "a", []]], "corrected of a round in the file must be"),
    (TUNER, "rounds 1 corrected", [[0, 0.5, []]], "corrected of a round in the file must be"),
    (TUNER, "rounds 1 stranger", 1, "a round with 'stranger', which this version does not know"),
]


@pytest.mark.parametrize(("form", "place", "value", "message"), PARTS)
def test_parts_of_a_file_have_their_types_and_are_possible(form, place, value, message, file):
    content = inside = saved(form, file)
    *outer, last = place.split()
    for each in outer:
        inside = inside[int(each) if each.isdigit() else each]
    inside[last] = value
    if value is None:
        del inside[last]
    write(file, form, content)
    with pytest.raises(ValueError, match=message):
        agents.load(file)


@pytest.mark.parametrize("version", [1, 2, 4, 3.0, True, "3", None])
@pytest.mark.parametrize("form", [AGENT, TUNER])
def test_other_versions_are_refused(form, version, file):
    saved(form, file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": version}))
    with pytest.raises(ValueError, match="load it with the gpbandits that saved it"):
        agents.load(file)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("form", [AGENT, TUNER])
def test_a_flipped_bit_or_a_lost_end_is_refused_or_changes_nothing(form, file):
    content = saved(form, file)
    whole, rng = file.read_bytes(), np.random.default_rng(0)
    damaged = [whole[:end] for end in rng.integers(len(whole), size=100)]
    for bit in rng.integers(8 * len(whole), size=500).tolist():
        byte = whole[bit // 8] ^ (1 << bit % 8)
        damaged.append(whole[: bit // 8] + bytes([byte]) + whole[bit // 8 + 1 :])
    altered, messages = 0, []
    for each in damaged:
        file.write_bytes(each)
        try:
            altered += read(file, form) != content
        except ValueError as error:
            messages.append(str(error))
    assert altered == 0
    assert all(str(file) in each for each in messages)


def bomb(shape, size):
    packed = b64encode(zlib.compress(bytes(size))).decode()
    return {"type": "array", "dtype": "|u1", "shape": shape, "zlib": packed}


BOMBS = {
    "more than it says": ([1], 2**24, {}, "whose bytes are not as many"),
    "less than it says": ([2**16], 2**15, {}, "whose bytes are not as many"),
    "too much": ([2**24], 2**24, {"max_bytes": 2**20}, "pass max_bytes=167772"),
    "far too much": ([2**20, 2**20], 2**24, {}, "pass max_bytes="),
}


@pytest.mark.parametrize(("shape", "size", "limit", "message"), BOMBS.values(), ids=BOMBS)
def test_a_file_unpacks_to_no_more_than_is_allowed(shape, size, limit, message, file):
    content = saved(AGENT, file)
    content["calls"] = [[["reset"], {"type": "dict", "items": [["reset", bomb(shape, size)]]}]]
    write(file, AGENT, content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            agents.load(file, **limit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**21


def test_a_file_itself_may_be_no_larger_than_is_allowed(file):
    save_tuner(file)
    size = file.stat().st_size
    assert len(Tuner.load(file, max_bytes=size).experiments) == 4
    with pytest.raises(ValueError, match=f"takes more than {size - 1} bytes; pass max_bytes={size}"):
        agents.load(file, max_bytes=size - 1)


NO_JSON = ["\x80\x04pickle", "[" * 10**5, '{"x":' * 10**5, "NaN", '{"format": NaN}', "9" * 5000]
OTHER = ["[]", '{"format": "something"}']


@pytest.mark.parametrize("text", NO_JSON + OTHER)
def test_nonsense_and_other_files_are_refused(text, file):
    file.write_text(text)
    words = f"of format {' or '.join(map(repr, FORMATS))}, got " if text in OTHER else "written by save"
    with pytest.raises(ValueError, match=f"path must lead to a file {words}"):
        agents.load(file)


def test_a_file_reaches_the_disk_before_it_gets_its_name(file, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        plain = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *given, name=name, plain=plain: (done.append(name), plain(*given))
        )
    save_tuner(file)
    assert done[:2] == ["fsync", "replace"]


def test_an_agent_that_no_longer_plays_its_record_says_so(file, monkeypatch):
    save_agent(file, PATH)
    monkeypatch.delattr(FirstArm, "update")
    with pytest.raises(ValueError, match="its agent does not play again: AttributeError"):
        agents.load(file, trust=True)


SAVED = {
    "gpbandits agent": lambda: agents.make("random", Setting(arms=np.eye(3), horizon=5)),
    "gpbandits tuner": lambda: Tuner({"x": Linear(0, 1)}),
    "gpbandits preference tuner": lambda: PreferenceTuner({"x": Linear(0, 1)}),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("name", "given"), [("trust", "no"), ("max_bytes", None), ("max_bytes", "1")])
def test_switches_and_sizes_of_loading_are_checked(form, name, given, tmp_path):
    saved = SAVED[form]()
    saved.save(tmp_path / "t.json")
    for load in (agents.load, type(saved).load):
        with pytest.raises(ValueError, match=f"{name} must be"):
            load(tmp_path / "t.json", **{name: given})


def test_anywhere_is_a_switch():
    with pytest.raises(ValueError, match="anywhere must be True or False, got 'no'"):
        Tuner({"x": Linear(0, 1)}).recommend(anywhere="no")
