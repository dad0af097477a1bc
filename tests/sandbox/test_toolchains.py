"""Which of the operator's tools are shown, and that nothing else of the home is."""

from pathlib import Path

import pytest

from spear.sandbox.toolchains import find


@pytest.fixture
def home(tmp_path):
    made = tmp_path / "home/op"
    for name in (".pyenv/shims", ".pyenv/versions/3.11/bin", ".cargo/bin", ".cargo/registry", ".rustup/toolchains",
                 ".ssh", ".local/bin", ".local/share/uv/tools", ".nvm/versions/node/v20/bin", "bin", ".npm",
                 "miniconda3/conda-meta", "miniconda3/bin", ".sdkman/candidates/java/current/bin",
                 "work/.venv/bin"):  # fmt: skip
        (made / name).mkdir(parents=True)
    (made / ".cargo/credentials.toml").write_text("token")
    (made / "work/.venv/pyvenv.cfg").write_text(f"home = {made}/.pyenv/versions/3.11/bin\n")
    return made


def places(tools):
    return {str(path) for path in tools.shown}


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (".pyenv/shims", {".pyenv"}),
        (".cargo/bin", {".cargo/bin", ".rustup"}),
        (".local/bin", {".local/bin", ".local/share/uv"}),
        (".nvm/versions/node/v20/bin", {".nvm"}),
        ("bin", {"bin"}),
        ("miniconda3/bin", {"miniconda3"}),
        (".sdkman/candidates/java/current/bin", {".sdkman"}),
        ("work/.venv/bin", {"work/.venv", ".pyenv/versions/3.11"}),
    ],
)
def test_a_directory_of_the_path_comes_with_its_prefix(home, entry, shown):
    assert places(find(f"{home}/{entry}:/usr/bin", home)) == {f"{home}/{name}" for name in shown}


def test_variables_tell_managers_where_they_are(home):
    tools = find(f"{home}/.pyenv/shims:{home}/.cargo/bin", home)
    assert tools.variables == {"PYENV_ROOT": f"{home}/.pyenv", "RUSTUP_HOME": f"{home}/.rustup"}


@pytest.mark.parametrize("entry", ["", "/", "..", ".ssh/..", "absent"])
def test_the_home_and_what_holds_it_are_never_shown_whole(home, entry):
    path = entry if entry in ("/", "..") else f"{home}/{entry}"
    assert places(find(path, home)) == set()


def test_a_root_and_the_system_need_no_showing(home):
    assert places(find(f"/usr/local/bin:/bin:{home}/work/.venv/bin", home, roots=[home / "work"])) == set()


def test_a_linked_directory_is_shown_at_both_names(home):
    (home / "tools").symlink_to(home / ".nvm/versions/node/v20/bin")
    tools = find(f"{home}/tools", home)
    assert tools.shown[home / "tools"] == home / ".nvm/versions/node/v20/bin"
    assert home / ".nvm" in tools.shown


def test_caches_are_found(home):
    assert [name for _, name in find("", home).caches] == [".cargo/registry", ".npm"]


def test_the_tools_of_this_machine_run_inside(host):
    done = host.run("python3 -c 'print(1)' && git --version && command -v make")
    assert done.exit_code == 0, done.output
    assert Path("/usr/bin/make").exists()
