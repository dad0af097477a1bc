"""The write scope holds for file tools and the terminal alike, whatever made the change (spec 2.3)."""

from __future__ import annotations

import pytest

from spear.agent.host import Outcome

# A program the policy cannot read: the destination appears only while it runs.
OPAQUE = "python3 -c \"import sys; open(sys.argv[1], 'a').write('x')\" $(printf '%s/%s' {0} {1})"


def opaque(path):
    directory, _, name = path.rpartition("/")
    return OPAQUE.format(directory or ".", name)


IN_SCOPE = ["src/ring.c", "src/ring.h", "tests/test_ring.c"]
OUT_OF_SCOPE = ["src/ring_arm.c", "Makefile", "src/fresh.c", "README.md", ".gitignore"]


@pytest.mark.parametrize("path", IN_SCOPE)
def test_the_target_and_what_belongs_to_it_may_be_written_by_every_way(ring, path):
    turn = ring.turn("src/ring.c")
    assert turn.write(path, "one\n").outcome is Outcome.OK
    assert turn.run(f"echo two >> {path}").outcome is Outcome.OK
    assert turn.run(opaque(path)).outcome is Outcome.OK
    assert ring.text(path) == "one\ntwo\nx"


@pytest.mark.parametrize("path", OUT_OF_SCOPE)
@pytest.mark.parametrize("how", ["write_file", "redirection", "opaque"])
def test_nothing_else_may_be_written_by_any_way(ring, path, how):
    before = (ring.root / path).read_bytes() if (ring.root / path).exists() else None
    turn = ring.turn("src/ring.c")
    if how == "write_file":
        result = turn.write(path, "x\n")
    else:
        result = turn.run(f"echo x > {path}" if how == "redirection" else opaque(path))
    assert result.outcome is Outcome.REFUSED
    assert result.refusal.code == "out_of_scope"
    assert "src/ring.c" in result.refusal.remedy, "the refusal says what is in scope"
    assert ((ring.root / path).read_bytes() if (ring.root / path).exists() else None) == before
    assert turn.epoch == 0


def test_a_known_destination_out_of_scope_is_refused_before_anything_runs(ring):
    turn = ring.turn("src/ring.c")
    assert turn.run("echo ran > src/ring.c; echo x > src/ring_arm.c").outcome is Outcome.REFUSED
    assert ring.text("src/ring.c").startswith("#include"), "the first half did not run either"


def test_a_command_keeps_what_is_in_scope_and_loses_the_rest(ring):
    before = ring.text("src/ring_arm.c")
    turn = ring.turn("src/ring.c")
    result = turn.run(
        "python3 - <<'P'\nimport glob\nfor p in glob.glob('src/ring*.c'):\n    open(p, 'a').write('/**/')\nP"
    )
    assert ring.text("src/ring.c").endswith("/**/")
    assert ring.text("src/ring_arm.c") == before
    assert "refused: src/ring_arm.c" in result.text
    assert [change.path for change in turn.record.changes] == ["src/ring.c"]
    assert turn.record.outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    "command",
    [
        "sh -c \"$(printf 'rm src/ring_%s.c' arm)\"",
        "sh -c \"$(printf 'mv src/ring_%s.c src/gone.c' arm)\"",
        "sh -c \"$(printf 'chmod 777 src/ring_%s.c' arm)\"",
        "sh -c \"$(printf 'ln -sf ring.c src/ring_%s.c' arm)\"",
        "sh -c \"$(printf 'git checkout -q HEAD~0 -- src/ring_%s.c' arm)\"; sh -c \"$(printf ': > src/ring_%s.c' arm)\"",
        "sh -c \"$(printf 'mv src s2; mv s2 sr%s' c)\"; sh -c \"$(printf 'echo x > src/ring_%s.c' arm)\"",
    ],
)
def test_deletion_renaming_modes_and_links_outside_the_scope_do_not_stay(ring, command):
    path = ring.root / "src/ring_arm.c"
    before, mode = path.read_bytes(), path.stat().st_mode
    ring.turn("src/ring.c").run(command)
    assert not path.is_symlink()
    assert (path.read_bytes(), path.stat().st_mode) == (before, mode)


def test_a_file_the_turn_created_belongs_to_it_and_its_manifest_may_register_it(ring):
    turn = ring.turn("src/fifo.c")
    assert turn.write("src/fifo.c", "int fifo;\n").outcome is Outcome.OK
    assert turn.run("sed -i 's/fifo/queue/' src/fifo.c").outcome is Outcome.OK
    assert turn.patch("Makefile", "clean:", "fifo: src/fifo.c\nclean:").outcome is Outcome.OK
    assert turn.write("src/ring.c", "x").outcome is Outcome.REFUSED


def test_an_exclusion_wins_over_everything(ring):
    turn = ring.turn("src/ring.c", exclusions=("src/ring.h",))
    for result in (turn.write("src/ring.h", "x"), turn.run("echo x > src/ring.h"), turn.run(opaque("src/ring.h"))):
        assert result.refusal.code == "excluded"
    assert ring.text("src/ring.h").startswith("#ifndef")


def test_a_symbol_confines_to_the_file_that_defines_it(ring):
    turn = ring.turn(symbols=("ring_arm_next",))
    assert turn.write("src/ring.c", "x").outcome is Outcome.REFUSED
    assert turn.run("echo '/**/' >> src/ring_arm.c").outcome is Outcome.OK


def test_build_outputs_ignored_files_and_caches_are_never_out_of_scope(ring):
    turn = ring.turn("src/ring.c")
    for command in ("make", "cc -c -Isrc src/ring_arm.c -o src/ring_arm.o", "cmake -E make_directory build/deep",
                    "mkdir -p .pytest_cache && echo x > .pytest_cache/x", "python3 -m compileall -q . || true"):  # fmt: skip
        assert turn.run(command).outcome is Outcome.OK, command
    assert (ring.root / "build/test_ring").exists()
    assert (ring.root / "src/ring_arm.o").exists()
    assert turn.epoch == 0


def test_a_program_built_beside_its_sources_is_a_build_output(ring):
    turn = ring.turn("src/ring.c")
    result = turn.run("cc -Isrc src/ring.c tests/test_ring.c -o check && ./check")
    assert result.outcome is Outcome.OK, result.text
    assert (ring.root / "check").exists()
    assert turn.epoch == 0


def test_a_build_directory_may_be_removed_whole(ring):
    turn = ring.turn("src/ring.c")
    turn.run("make")
    assert turn.run("rm -rf build").outcome is Outcome.OK
    assert not (ring.root / "build").exists()
    turn.run("make")
    assert turn.run("make clean").outcome is Outcome.OK
    assert not (ring.root / "build").exists()


def test_another_root_has_build_outputs_of_its_own_and_the_scope_holds_there(ring, tmp_path):
    library = tmp_path / "lib"
    library.mkdir()
    (library / "x.c").write_text("int x;\n")
    ring.others["lib"] = library
    turn = ring.turn("src/ring.c")
    assert turn.run("cd /workspaces/lib && cc -c x.c -o x.o && cat x.c").outcome is Outcome.OK
    assert (library / "x.o").exists()
    for result in (turn.write("/workspaces/lib/x.c", "x"), turn.run("echo x > /workspaces/lib/x.c"),
                   turn.run(opaque("/workspaces/lib/x.c"))):  # fmt: skip
        assert result.refusal.code == "out_of_scope"
    assert (library / "x.c").read_text() == "int x;\n"


def test_an_ignored_file_that_other_programs_execute_is_not_let_through_as_a_build_output(ring):
    ring.put(".gitignore", "build/\n.devcontainer/\n")
    turn = ring.turn("src/ring.c")
    result = turn.run("python3 -c \"import os; os.mkdir('.dev' + 'container'); open('.dev' + 'container/x', 'w')\"")
    assert result.refusal.code == "run_later"
    assert not (ring.root / ".devcontainer/x").exists()


def test_renaming_a_directory_works_by_copy_and_where_it_cannot_the_model_is_told_how(ring):
    turn = ring.turn()
    refused = turn.run("git mv src source")
    assert refused.outcome is Outcome.FAILED
    assert "use `mv OLD NEW`" in refused.text
    assert (ring.root / "src/ring.c").exists()
    assert turn.run("mv src source && git add -A && git status --short").text.count("R  src/") == 3
    assert not (ring.root / "src").exists()
    assert (ring.root / "source/ring.c").exists()


def test_a_request_without_a_target_is_scoped_to_the_workspace(ring):
    turn = ring.turn()
    assert turn.write("src/ring_arm.c", "x\n").outcome is Outcome.OK
    assert turn.run(opaque("notes/../README")).outcome in (Outcome.OK, Outcome.FAILED)
    assert turn.run("mkdir -p notes && echo x > notes/a.txt").outcome is Outcome.OK
