"""`config explain` in the installed program: value, origin and meaning of every setting (spec 1.3)."""

from __future__ import annotations

import json

from spear.cli.options import FILES_ONLY, settings_options
from spear.cli.settings_layers import known_keys


def configure(tree, text: str) -> str:
    file = tree.home / ".config/spear/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


def explain(tree, *words: str, **variables: str):
    done = tree.run("config", "explain", *words, "--json", env=variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_origin_is_named_with_its_place(tree):
    assert explain(tree, "max_commands")["origin"] == "default"
    file = configure(tree, "# mine\n\nmax_commands = 50\n")
    found = explain(tree, "max_commands")
    assert (found["value"], found["origin"], found["file"], found["line"]) == (50, "user file", file, 3)
    project = tree.write(".spear/config.toml", "max_commands = 40\n")
    found = explain(tree, "max_commands")
    assert (found["value"], found["origin"], found["file"], found["line"]) == (40, "project file", str(project), 1)
    found = explain(tree, "max_commands", SPEAR_MAX_COMMANDS="30")
    assert (found["value"], found["origin"], found["where"]) == (30, "environment", "SPEAR_MAX_COMMANDS")
    found = explain(tree, "max_commands", "--max-commands", "20", SPEAR_MAX_COMMANDS="30")
    assert (found["value"], found["origin"], found["where"]) == (20, "flag", "--max-commands")
    assert found["file"] is None and found["meaning"] == "terminal calls per turn"


def test_one_setting_is_explained_in_words(tree):
    file = configure(tree, "max_commands = 50\n")
    tree.write(".spear/config.toml", "max_commands = 500\n")
    done = tree.run("config", "explain", "max_commands")
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "max_commands = 50"
    for part in (f"user file {file} line 1", "terminal calls per turn", "SPEAR_MAX_COMMANDS", "needs your trust"):
        assert part in done.stdout, done.stdout


def test_what_a_backend_gives_is_found_where_the_backend_says_it(tree):
    backend = "[backends.far]\nmodel = 'm'\nurl = 'https://ann:hunter2hunter2@far.example/v1'\nctx = 5000\n"
    file = configure(tree, f"ctx = 4096\n{backend}")
    address, window = (explain(tree, key, "--backend", "far") for key in ("api_base", "ctx"))
    assert (address["where"], address["file"], address["line"]) == ("backend far", file, 4)
    assert (window["value"], window["file"], window["line"]) == (5000, file, 5)
    said = tree.run("config", "explain").stdout + json.dumps(address)
    assert "far.example" in said and "hunter2" not in said


def test_without_a_key_every_setting_is_explained_and_a_table_by_its_name(tree):
    assert [each["key"] for each in explain(tree)] == sorted(known_keys())
    assert all(each["meaning"] for each in explain(tree))
    assert {each["key"] for each in explain(tree, "limits")} == {
        key for key in known_keys() if key.startswith("limits.")
    }
    lines = tree.run("config", "explain").stdout.splitlines()
    assert len(lines) == len(known_keys()) and "max_commands = 120  (default)" in lines


def test_every_setting_has_one_declaration():
    declared = [option.key for option in (*settings_options(), *FILES_ONLY)]
    assert set(declared) == set(known_keys())
    assert not {option.key for option in FILES_ONLY} & {option.key for option in settings_options()}


def test_an_unknown_key_names_the_nearest(tree):
    for word, near in (
        ("max_comands", "did you mean max_commands?"),
        ("max-commands", "did you mean max_commands?"),
        ("SPEAR_CTX", "did you mean ctx?"),
        ("limits.task", "did you mean limits.tasks?"),
        ("backends.far.url", "spear-chat config explain backends"),
        ("zzzz", "lists every key"),
    ):
        done = tree.run("config", "explain", word)
        assert done.returncode == 2 and word in done.stderr and near in done.stderr, done.stderr
        assert not done.stdout
    configure(tree, "max_comands = 3\n")
    broken = tree.run("config", "explain", "max_commands")
    assert broken.returncode == 2 and "line 1" in broken.stderr and "did you mean max_commands?" in broken.stderr
