"""Pastes, bursts, history, paths and completion, without a terminal."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from spear.cli.commands.registry import COMMANDS
from spear.cli.repl.burst import regroup
from spear.cli.repl.completion import LineCompleter, Sources
from spear.cli.repl.history import InputHistory
from spear.cli.repl.operator_tools import call_of
from spear.cli.repl.paste import LONG_CHARACTERS, LONG_LINES, PasteStore
from spear.cli.repl.paths import PathIndex
from spear.state.directory import StateDirectory

ENTER = KeyPress(Keys.ControlM, "\r")


def typed(text: str) -> list[KeyPress]:
    return [ENTER if c == "\r" else KeyPress(c, c) for c in text]


def test_a_short_paste_is_text_and_a_long_one_a_placeholder():
    store = PasteStore()
    assert store.take("a\r\nb") == "a\nb"
    mark = store.take("x" * (LONG_CHARACTERS + 1))
    assert len(mark) == 1
    assert store.label(mark) == f"[Pasted text #1, {LONG_CHARACTERS + 1} characters]"
    assert store.label("a") == ""


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=6))
def test_expanding_gives_back_every_paste_exactly(pastes):
    store = PasteStore()
    pastes = [paste + "\n" * LONG_LINES for paste in pastes]
    kept = [store.take(paste) for paste in pastes]
    assert store.expand("|".join(kept)) == "|".join(p.replace("\r\n", "\n").replace("\r", "\n") for p in pastes)


def test_half_characters_of_a_paste_become_replacement_characters():
    assert PasteStore().take("a\ud83db") == "a\ufffdb"


def test_a_burst_with_an_inner_enter_is_one_paste_and_a_last_enter_stays_the_operators():
    assert regroup(typed("a\rb\r")) == [KeyPress(Keys.BracketedPaste, "a\nb"), ENTER]
    assert regroup(typed("a\rb")) == [KeyPress(Keys.BracketedPaste, "a\nb")]


def test_a_typed_line_and_commands_between_stay_keys():
    assert regroup(typed("/undo\r")) == typed("/undo\r")
    interrupt = KeyPress(Keys.ControlC, "\x03")
    assert regroup([*typed("ab"), interrupt, *typed("c\r")]) == [*typed("ab"), interrupt, *typed("c\r")]


@given(st.text(alphabet="ab \r", max_size=40))
def test_regrouping_keeps_every_character_in_order(text):
    out = "".join(key.data for key in regroup(typed(text)))
    assert out.replace("\n", "\r") == text


def test_history_keeps_entries_whole_in_order_and_survives_a_torn_line(tmp_path):
    history = InputHistory(StateDirectory(tmp_path), tmp_path, lambda text: text.replace("secret", "[redacted]"))
    for entry in ("one", "two\nlines \u2028 é", "my secret", "  "):
        history.add(entry)
    history.close()
    with history.path.open("ab") as file:
        file.write(b'"torn')
    assert history.load() == ["one", "two\nlines \u2028 é", "my [redacted]"]
    history.add("after")
    assert history.load()[-1] == "after"
    assert json.loads(history.path.read_bytes().split(b"\n")[0]) == "one"


def test_two_workspaces_have_two_histories(tmp_path):
    state = StateDirectory(tmp_path)
    paths = {InputHistory(state, tmp_path / name, str).path for name in ("a", "b")}
    assert len(paths) == 2


@pytest.fixture
def tree(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/ring.c").write_text("")
    (tmp_path / "new.txt").write_text("")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/ring.o").write_text("")
    (tmp_path / ".gitignore").write_text("build/\n")
    subprocess.run(["git", "add", "src"], cwd=tmp_path, check=True)
    return tmp_path


def test_paths_are_tracked_and_untracked_ones_without_git_and_ignored(tree):
    assert set(PathIndex(tree, 5).paths()) == {"src/ring.c", "new.txt", ".gitignore"}


def test_an_ignored_file_is_reached_by_typing_its_directory(tree):
    index = PathIndex(tree, 5)
    assert index.matching("ring") == ["src/ring.c"]
    assert "build/ring.o" in index.matching("build/r")
    assert index.matching("../") == []
    assert index.matching("/etc/pas") == []


def test_without_git_the_directory_is_scanned_and_a_spent_budget_gives_a_partial_list(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d/x.c").write_text("")
    assert PathIndex(tmp_path, 5).paths() == ("d/x.c",)
    assert PathIndex(tmp_path, 0).paths() == ()


def completions(text: str, sources: Sources) -> list[str]:
    return [c.text for c in LineCompleter(sources).get_completions(Document(text), CompleteEvent())]


def test_every_command_and_alias_completes(tree):
    found = completions("/", Sources(PathIndex(tree, 5)))
    assert found == [f"/{name}" for command in COMMANDS for name in command.names]


class Lamps:
    """A bound standard of a few provisions."""

    def sections(self, beginning):
        return [each for each in ("4", "4.2") if each.startswith(beginning)]

    def labels(self, beginning):
        return [each for each in ("Rule 4.2-1", "MUST-15") if each.lower().startswith(beginning.lower())]

    def stored(self):
        return [("LAMP-BUS", "2"), ("LAMP-BUS", "3"), ("TCP", "1")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/kno", "/knowledge"),
        ("/undo --f", "--file"),
        ("/undo --file sr", "src/ring.c"),
        ("/mode a", "auto"),
        ("/resume s-", "s-0001"),
        ("!re", "!read"),
        ("!read ri", "src/ring.c"),
        ("explain @ring", "@src/ring.c"),
        ("what does Rule 4.", "Rule 4.2-1"),
        ("what does §4.", "4.2"),
        ("MUST-", "MUST-15"),
        ("/standard sh", "show"),
        ("/standard show 4", "4.2"),
        ("/standard show §4", "4.2"),
        ("/standard show Rule ", "Rule 4.2-1"),
        ("/standard cite Ru", "Rule 4.2-1"),
        ("/standard search what does Rule 4", "Rule 4.2-1"),
        ("/standard use LA", "LAMP-BUS"),
        ("/standard use LAMP-BUS ", "2"),
        ("/standard verify LAMP-BUS 2 --f", "--full"),
        ("/standard remove LAMP-BUS 2 --", "--yes"),
        ("/standard ingest src/r", "src/ring.c"),
        ("/standard ingest a.md --origin P", "PUBLIC"),
        ("/standard ingest a.md --profile src/", "src/ring.c"),
        ("/standard retrieval l", "lexical"),
        ("/jobs stop 1", "12"),
        ("/model far", "far-away"),
        ("/switch f", "far-away"),
    ],
)
def test_arguments_complete(tree, text, expected):
    sources = Sources(PathIndex(tree, 5), lambda: ["s-0001"], Lamps(), lambda: ["12"], lambda: ["far-away"])
    assert expected in completions(text, sources)


def test_only_revisions_of_the_standard_that_is_named_complete(tree):
    sources = Sources(PathIndex(tree, 5), provisions=Lamps())
    assert completions("/standard use LAMP-BUS ", sources) == ["2", "3"]
    assert completions("/standard unbind ", sources) == []
    assert completions("/standard nothing ", sources) == []


def test_an_address_is_no_path(tree):
    assert completions("mail me@ring", Sources(PathIndex(tree, 5))) == []


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (("read", "a.c"), ("read_file", {"path": "a.c"})),
        (("read", "@a.c 20"), ("read_file", {"path": "a.c", "offset": 20})),
        (("ls", ""), ("terminal", {"command": "ls -la"})),
        (("ls", "'a b'"), ("terminal", {"command": "ls -la -- 'a b'"})),
        (("grep", "'int x' src"), ("search_files", {"pattern": "int x", "target": "content", "path": "src"})),
        (("find", "*.c"), ("search_files", {"pattern": "*.c", "target": "files", "path": "."})),
        (("run", "echo 'a  b' | cat"), ("terminal", {"command": "echo 'a  b' | cat"})),
        (("web", "https://e.org"), ("fetch_url", {"url": "https://e.org"})),
        (
            ("web", "'https://e.org/?a=1&b=2' --pages 3-4"),
            ("fetch_url", {"url": "https://e.org/?a=1&b=2", "pages": "3-4"}),
        ),
        (("web", "https://e.org/x --save-as @a.pdf"), ("fetch_url", {"url": "https://e.org/x", "save_as": "a.pdf"})),
        (("web", "ring buffer c"), ("search_internet", {"query": "ring buffer c"})),
    ],
)
def test_tools_by_hand_are_calls_of_the_tools(words, call):
    assert call_of(*words) == call


@pytest.mark.parametrize("words", [("run", ""), ("grep", ""), ("read", "'"), ("nope", "x"), ("web", "")])
def test_words_that_make_no_call_are_answered_with_a_sentence(words):
    assert isinstance(call_of(*words), str)


def test_words_no_web_tool_takes_are_answered_as_they_are_written_here():
    told = call_of("web", "https://e.org --page 3")
    assert isinstance(told, str) and "!web 'URL'" in told and "spear-web" not in told


def test_the_path_of_an_image_that_is_dropped_on_the_terminal_becomes_one_unit(tmp_path):
    from tests.turns.test_images import GIF

    picture = tmp_path / "a shot.gif"
    picture.write_bytes(GIF)
    for written in (f"'{picture}'", str(picture).replace(" ", "\\ "), f"{picture.as_uri()}\n", str(picture)):
        pastes = PasteStore()
        mark = pastes.take(written)
        assert len(mark) == 1 and pastes.label(mark) == "[image: a shot.gif, 1×1]", written
        assert pastes.expand(f"Look at {mark}now") == f'Look at @"{picture}" now'
    other = tmp_path / "b.gif"
    other.write_text("no image", encoding="utf-8")
    for text in (str(other), "/nowhere/c.png", "see /tmp/x.png", f"{picture}\n{picture}"):
        assert PasteStore().take(text) == text
