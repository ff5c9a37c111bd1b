"""A film is saved as a GIF, a page with a slider, or an MP4, and begins with the round that is wanted."""

from __future__ import annotations

import re
from base64 import b64decode
from importlib.util import find_spec
from io import BytesIO
from shutil import which

import pytest
from pages import browser, needs_browser
from PIL import Image

from gpbandits import watch
from gpbandits.report import film_files

KWARGS = {"num_arms": 20, "horizon": 8}
needs_ffmpeg = pytest.mark.skipif(
    which("ffmpeg") is None and find_spec("imageio_ffmpeg") is None, reason="no ffmpeg on this machine"
)


@pytest.fixture(scope="module")
def film():
    return watch("GPBandit-GP-v0", "gp-ucb", count=4, env_kwargs=KWARGS, start=3, fps=4)


def test_a_film_begins_with_the_round_that_is_wanted(film):
    assert [scene.total + 1 for scene in film.scenes] == [3, 5, 7, 9]
    whole = watch("GPBandit-GP-v0", "gp-ucb", count=9, env_kwargs=KWARGS)
    assert film.scenes[0].plays.tolist() == whole.scenes[2].plays.tolist()


@pytest.mark.parametrize(("start", "words"), [(0, "a round, the first"), (9, "before the last of 8")])
def test_a_film_begins_within_the_trial(start, words):
    with pytest.raises(ValueError, match=f"start must be a round.*{words[-8:]}"):
        watch("GPBandit-GP-v0", "random", env_kwargs=KWARGS, start=start)


def test_a_page_holds_every_picture(film, tmp_path):
    film.save(tmp_path / "new" / "it.html")
    page = (tmp_path / "new" / "it.html").read_text()
    pictures = re.findall(r'^(?:const pictures = \[)?"data:image/png;base64,([^"]+)"', page, re.MULTILINE)
    assert len(pictures) == film.length == 4
    with Image.open(BytesIO(film.gif)) as gif:
        for i, each in enumerate(pictures):
            gif.seek(i)
            with Image.open(BytesIO(b64decode(each))) as picture:
                assert picture.convert("RGB").tobytes() == gif.convert("RGB").tobytes()
    assert "http" not in page  # it needs no other file


def test_the_colours_of_a_film_are_those_of_all_its_pictures(film):
    colours = set()
    with Image.open(BytesIO(film.gif)) as gif:
        for i in range(film.length):
            gif.seek(i)
            colours |= {colour for _, colour in gif.convert("RGB").getcolors(640 * 480)}
    assert len(colours) <= film_files.COLOURS  # a palette for each picture would make the band flicker


def test_a_title_is_no_markup(film):
    page = film_files.slider_page(film.gif, 2.0, "<b>mine</b> & others")
    assert "<b>" not in page
    assert "&lt;b&gt;mine" in page


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_slider_shows_the_pictures_in_a_browser(film, width, tmp_path):
    film.save(tmp_path / "it.html")
    with browser(tmp_path / "profile", width) as opened:
        opened.get((tmp_path / "it.html").as_uri())
        seen = set()
        for value in range(1, 5):
            opened.execute_script(f"slider.value = {value}; slider.oninput()")
            seen.add(opened.execute_script("return images[0].src"))
            assert opened.execute_script("return number.value") == f"{value} of 4"
        assert len(seen) == 4
        needed = opened.execute_script("return document.documentElement.scrollWidth")
        assert needed <= width
        opened.execute_script("play.onclick()")
        assert opened.execute_script("return [play.textContent, number.value]") == ["Pause", "1 of 4"]


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize(("width", "rows"), [(390, 2), (1280, 1)])
def test_one_slider_moves_two_agents_which_stand_side_by_side_on_a_desktop(width, rows, tmp_path):
    two = watch("GPBandit-GP-v0", ["gp-ucb", "gp-ei"], count=3, env_kwargs=KWARGS)
    two.save(tmp_path / "it.html")
    with browser(tmp_path / "profile", width) as opened:
        opened.get((tmp_path / "it.html").as_uri())
        before = opened.execute_script("return images.map(each => each.src)")
        assert opened.execute_script("return [slider.max, number.value]") == ["3", "1 of 3"]
        opened.execute_script("slider.value = 3; slider.oninput()")
        after = opened.execute_script("return images.map(each => each.src)")
        assert len({*before, *after}) == 4
        tops = opened.execute_script("return images.map(each => each.getBoundingClientRect().top)")
        assert len(set(tops)) == rows
        assert opened.execute_script("return document.documentElement.scrollWidth") <= width


@needs_ffmpeg
def test_a_video_has_a_frame_for_each_picture(film, tmp_path):
    film.save(tmp_path / "it.mp4")
    content = (tmp_path / "it.mp4").read_bytes()
    assert content[4:8] == b"ftyp"
    (count,) = {int.from_bytes(content[i + 12 : i + 16], "big") for i in places(content, b"stsz")}
    assert count == film.length


def places(content, name):
    return [each.start() for each in re.finditer(name, content)]


def test_without_ffmpeg_the_remedy_is_said_before_anything_is_drawn(film, tmp_path, monkeypatch):
    monkeypatch.setattr(film_files.shutil, "which", lambda name: None)
    monkeypatch.setattr(film_files, "find_spec", lambda name: None)
    with pytest.raises(
        ValueError, match=r"path can be \.mp4 where ffmpeg .*got .*it\.mp4; pip install imageio"
    ):
        film.save(tmp_path / "new" / "it.mp4")
    assert list(tmp_path.iterdir()) == []


def test_another_suffix_is_refused(film, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.gif, \.html, \.mp4, got"):
        film.save(tmp_path / "it.webm")
