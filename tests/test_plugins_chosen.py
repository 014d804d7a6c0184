"""Which plugins are loaded: those that ``ELISION_PLUGINS`` names, each under one name and from one module."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

import elision
from elision.registry import load_plugins

BUILTIN = EntryPoint("builtin", "elision.plugins.builtin", "elision")
ACME = EntryPoint("acme", "json", "elision")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("acne", "no plugin 'acne' is installed; did you mean 'acme'?"),
        ("acme,nosuch", "no plugin 'nosuch' is installed; installed plugins: acme"),
    ],
)
def test_a_plugin_that_is_asked_for_and_not_installed_is_an_error_with_the_nearest_name(names: str, told: str) -> None:
    with pytest.raises(elision.PluginError) as caught:
        load_plugins([BUILTIN, ACME], {"ELISION_PLUGINS": names})

    assert str(caught.value) == f"ELISION_PLUGINS: {told}; correct it, or install it"


def test_where_no_stranger_is_installed_the_error_says_so() -> None:
    with pytest.raises(elision.PluginError, match="'acme' is installed; no third-party one is; correct it"):
        load_plugins([BUILTIN], {"ELISION_PLUGINS": "acme"})


def test_the_built_ins_can_be_named_too_and_are_loaded_once() -> None:
    assert "default" in load_plugins([BUILTIN, ACME], {"ELISION_PLUGINS": "builtin"}).processors()


def test_two_entry_points_of_one_module_are_an_error_that_names_both() -> None:
    other = EntryPoint("bold", ACME.value, "elision")

    with pytest.raises(elision.PluginError) as caught:
        load_plugins([BUILTIN, other, ACME], {})

    assert str(caught.value) == (
        "plugins 'acme' and 'bold': both entry points name the module json; "
        "a module is one plugin; remove one entry point"
    )


def test_two_entry_points_of_one_name_are_an_error_that_names_both_modules() -> None:
    other = EntryPoint("acme", "csv", "elision")

    with pytest.raises(elision.PluginError, match=r"plugin 'acme': two entry points have this name \(json and csv\)"):
        load_plugins([BUILTIN, ACME, other], {})


def test_an_entry_point_that_is_switched_off_is_no_conflict() -> None:
    other = EntryPoint("bold", ACME.value, "elision")

    assert load_plugins([BUILTIN, other, ACME], {"ELISION_PLUGINS": "acme"}).manager.has_plugin("acme")
