"""What a conftest puts in the place of the code under test."""

from __future__ import annotations

import pytest

from spear.evidence.replacing import defines, replaced_by
from spear.evidence.weakened import FileTexts, find_weakened

CALC = "def add(a, b):\n    return a - b\n"
REPLACES = [
    "import calc\ncalc.add = lambda a, b: 3\n",
    "from pkg import calc\ncalc.add = fake\n",
    "import pkg.calc as c\nc.add = fake\n",
    "import calc\nsetattr(calc, 'add', fake)\n",
    "import sys\nsys.modules['calc'] = fake\n",
    "import calc\ncalc.__dict__['add'] = fake\n",
    "import calc\nvars(calc)['add'] = fake\n",
    "import calc\ncalc.add.__code__ = fake.__code__\n",
    "from unittest import mock\nmock.patch('calc.add', fake).start()\n",
    "from unittest.mock import patch\nimport calc\npatch.object(calc, 'add', fake).start()\n",
    "import calc\n\n\ndef pytest_configure(config):\n    calc.add = fake\n",
    "import pytest\nimport calc\n\n\n@pytest.fixture(autouse=True)\ndef _(monkeypatch):\n    monkeypatch.setattr(calc, 'add', fake)\n",
    "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef _(monkeypatch):\n    monkeypatch.setattr('calc.add', fake)\n",
]
ORDINARY = [
    "import calc\n\nVALUE = calc.add(1, 2)\n",
    "import pytest\nimport calc\n\n\n@pytest.fixture\ndef fake(monkeypatch):\n    monkeypatch.setattr(calc, 'add', lambda a, b: 3)\n",
    "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef _(monkeypatch):\n    monkeypatch.setenv('A', '1')\n",
    "import pytest\nimport calc\n\n\n@pytest.fixture(autouse=True)\ndef _(monkeypatch):\n    monkeypatch.setattr(calc, 'URL', 'x')\n",
    "import other\nother.add = fake\n",
    "import sys\nsys.path.insert(0, 'src')\n",
    "def broken(:\n",
]


@pytest.mark.parametrize("text", REPLACES)
def test_a_conftest_that_replaces_what_the_turn_changed_keeps_the_tests_from_it(text):
    path = "src/pkg/calc.py" if "pkg" in text else "calc.py"
    for before in (None, "import sys\n"):
        (found,) = find_weakened([FileTexts("conftest.py", before, text)], sources={path: CALC})
        assert found.certain, found
        assert "in the place of" in found.why


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_conftest_is_named_and_no_more(text):
    (found,) = find_weakened([FileTexts("conftest.py", None, text)], sources={"calc.py": CALC})
    assert not found.certain, found


def test_what_the_conftest_replaced_before_the_turn_is_the_projects_own():
    text = REPLACES[0]
    (found,) = find_weakened([FileTexts("conftest.py", text, f"{text}X = 1\n")], sources={"calc.py": CALC})
    assert not found.certain


def test_a_module_is_known_by_every_name_it_can_be_imported_by():
    for name in ("calc", "pkg.calc", "src.pkg.calc", "calc.add", "pkg.calc.add"):
        assert defines("src/pkg/calc.py", CALC, name)
    assert defines("pkg/__init__.py", CALC, "pkg.add")
    assert not defines("src/pkg/calc.py", CALC, "calc.sub")
    assert replaced_by("\0") == frozenset()


def test_a_deciding_file_that_only_moved_is_nobodys_weakening():
    hooks = "def pytest_collection_modifyitems(config, items):\n    items.sort()\n"
    moved = [FileTexts("conftest.py", hooks, None), FileTexts("tests/conftest.py", None, hooks)]
    assert find_weakened(moved) == ()


def test_a_new_module_that_replaces_what_another_defines_is_named():
    sources = {"calc.py": CALC, "plugin.py": REPLACES[0], "test_calc.py": REPLACES[0]}
    (found,) = find_weakened([], sources=sources, new=["plugin.py", "test_calc.py"])
    assert (found.path, found.certain) == ("plugin.py", True)
    assert find_weakened([], sources=sources) == ()


SETTINGS = [
    (".npmrc", "registry=x\n", "script-shell=/bin/true\n"),
    (".cargo/config.toml", "[build]\n", "[target.x]\nrunner = 'true'\n"),
    (".bazelrc", "build --x\n", "test --run_under=true\n"),
    ("pom.xml", "<project/>", "<skipTests>true</skipTests>"),
]


@pytest.mark.parametrize(("path", "ordinary", "diverting"), SETTINGS)
def test_a_tools_settings_that_give_it_another_program_are_a_check_changed_to_pass(path, ordinary, diverting):
    (found,) = find_weakened([FileTexts(path, ordinary, ordinary + diverting)])
    assert found.certain, found
    grown = find_weakened([FileTexts(path, diverting, diverting + ordinary)])
    assert not any(weakening.certain for weakening in grown)
