"""Looking at a path is an answer, also for a user who may not look."""

from __future__ import annotations

from pathlib import Path

from spear.workspace import presence


def test_what_is_there_is_seen_for_what_it_is(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "empty").mkdir()
    assert presence.exists(tmp_path / "file") and presence.is_file(tmp_path / "file")
    assert presence.is_link(tmp_path / "link") and not presence.exists(tmp_path / "link")
    assert presence.is_directory(tmp_path) and not presence.is_file(tmp_path)
    assert sorted(presence.names(tmp_path)) == ["empty", "file", "link"]
    assert presence.is_empty(tmp_path / "empty") and not presence.is_empty(tmp_path)


def test_below_a_directory_that_may_not_be_searched_nothing_is_there(public_path, as_tester):
    closed = public_path / "closed"
    (closed / "below").mkdir(parents=True)
    (closed / "below/file").touch()
    closed.chmod(0o700 if closed.stat().st_uid == 0 else 0)

    def look() -> str:
        below = Path(closed, "below")
        seen = [presence.exists(below), presence.is_directory(below), presence.is_link(below)]
        seen += [presence.is_file(below / "file"), *presence.names(closed), presence.is_empty(closed)]
        return repr(seen)

    assert as_tester(look) == repr([False] * 5)
    closed.chmod(0o700)
