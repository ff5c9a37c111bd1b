"""The site keeps a folder of each release, and its pages lead from one to another."""

import json
import shutil
from typing import Any

import pytest
from pages import browser, loaded, needs_browser, served
from slow_runs import until


def add_version(*given: Any) -> list[str]:
    return loaded("docs/versions.py").add_version(*given)


@pytest.fixture
def built(tmp_path):
    def build(text):
        folder = tmp_path / f"built {text}"
        folder.mkdir()
        (folder / "index.html").write_text(text)
        (folder / ".buildinfo").write_text("")
        return folder

    return build


def test_each_release_has_a_folder_and_the_newest_comes_first(tmp_path, built):
    site = tmp_path / "site"
    for version in ("0.9.0", "0.10.0", "0.2.0"):
        listed = add_version(site, built(version), version)
    assert listed == ["0.10.0", "0.9.0", "0.2.0"]
    assert json.loads((site / "versions.json").read_text()) == listed
    assert 'href="0.10.0/"' in (site / "index.html").read_text()
    assert [(site / version / "index.html").read_text() for version in listed] == listed
    assert not list(site.rglob(".buildinfo"))


def test_a_release_is_replaced_and_a_development_version_does_not_lead(tmp_path, built):
    site = tmp_path / "site"
    add_version(site, built("old"), "1.0.0")
    add_version(site, built("mended"), "v1.0.0")
    assert add_version(site, built("dev"), "1.1.0.dev0") == ["1.0.0", "1.1.0.dev0"]
    assert (site / "1.0.0" / "index.html").read_text() == "mended"
    assert 'href="1.0.0/"' in (site / "index.html").read_text()


def test_a_folder_that_is_no_release_stays_and_a_site_that_was_not_built_replaces_none(tmp_path, built):
    site = tmp_path / "site"
    add_version(site, built("1"), "1.0.0")
    shutil.copytree(site / "1.0.0", site / "lite")
    assert add_version(site, built("2"), "2.0.0") == ["2.0.0", "1.0.0"]
    assert (site / "lite" / "index.html").exists()
    assert (site / ".nojekyll").exists()
    with pytest.raises(FileNotFoundError, match="BUILT must be a folder that sphinx-build wrote"):
        add_version(site, tmp_path / "nothing", "1.0.0")
    assert (site / "1.0.0" / "index.html").read_text() == "1"


@pytest.mark.long
@needs_browser
def test_a_page_offers_the_other_releases(tmp_path, site):
    for version in ("0.1.0", "0.2.0"):
        add_version(tmp_path / "site", site, version)
    (tmp_path / "site" / "0.2.0" / "clicks.html").unlink()  # a page that the newest lacks
    with served(tmp_path / "site") as (address, _), browser(tmp_path / "p") as opened:
        _change_versions(opened, f"{address}/")


def _change_versions(opened: Any, address: str) -> None:
    def found(css):
        return opened.find_elements("css selector", css)

    opened.get(address)
    until(lambda: opened.current_url == f"{address}0.2.0/" and found(".versions option"))
    assert not found(".old-version")
    opened.get(f"{address}0.2.0/guides/index.html#x")
    until(lambda: found(".versions option:nth-child(2)"))
    found(".versions option:nth-child(2)")[0].click()
    until(lambda: opened.current_url == f"{address}0.1.0/guides/index.html#x" and found(".old-version a"))
    assert "version 0.1.0" in found(".old-version")[0].text
    opened.get(f"{address}0.1.0/clicks.html")
    until(lambda: found(".old-version a"))
    found(".old-version a")[0].click()
    until(lambda: opened.current_url == f"{address}0.2.0/")
