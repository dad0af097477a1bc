"""`/search` and `/reindex` over the corpora of a session, as the operator reads them (spec 4.5)."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from spear.cli import index
from spear.cli.arguments import parse
from spear.cli.searching import Searching
from spear.cli.settings import load
from spear.cli.subcommands import WIRED
from spear.cli.workspace import open_workspace
from spear.errors import UsageError
from spear.retrieval.embedding.endpoint import EndpointEmbedder
from spear.retrieval.embedding.vectors import embed_missing
from spear.state.directory import StateDirectory
from spear.state.redaction import Redactor
from spear.state.trust import TrustStore


@pytest.fixture
def searching(tmp_path):
    """Makes the searches of a session in `mine`, which federates `lib`; `other` is registered too."""
    for name in ("mine", "lib", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text("def retry_limit():\n    return 3\n")
    registry = tmp_path / "projects.json"
    entries = {name: {"path": str(tmp_path / name)} for name in ("mine", "lib", "other")}
    registry.write_text(json.dumps({**entries, "mine": {**entries["mine"], "corpora": ["lib", "mine"]}}))
    environ = {"HOME": str(tmp_path), "SPEAR_PROJECTS_FILE": str(registry), "SPEAR_STATE_DIR": str(tmp_path / "state")}

    def make(*flags, where="mine", **variables):
        environ.update(variables)
        settings = load(parse([*flags, "-p", "x"], WIRED), environ, tmp_path / where).settings
        workspace = open_workspace(settings, tmp_path / where)
        return Searching(workspace, settings, StateDirectory(settings.state_dir), Redactor(), environ)

    return make


def reindexed(session, *names):
    for name in names:
        session.reindex(name, lambda _: None, lambda: False)


def shown(session):
    return [line.split("  ")[:2] for line in session.search("retry limit").splitlines() if ".py:" in line]


def test_a_hit_is_shown_by_its_corpus_its_place_and_its_line(searching):
    session = searching()
    reindexed(session, "", "lib", "other")
    assert shown(session) == [["mine", "mine.py:1"], ["lib", "lib.py:1"]]
    assert "def retry_limit" in session.search("retry limit")


def test_with_without_and_here_choose_the_corpora(searching):
    reindexed(searching(), "", "lib", "other")
    assert [name for name, _ in shown(searching("--with", "other", "--without", "lib"))] == ["mine", "other"]
    assert searching("--here").search("retry limit").startswith("mine is not indexed: /reindex mine")


def test_what_is_not_indexed_or_not_registered_is_said_with_the_way_out(searching):
    session = searching()
    assert "lib is not indexed: /reindex lib" in session.search("retry")
    with pytest.raises(UsageError, match="no corpus nowhere"):
        session.reindex("nowhere", lambda _: None, lambda: False)


def test_a_broken_index_of_another_corpus_is_named_and_the_rest_is_found(searching, tmp_path):
    session = searching()
    reindexed(session, "", "lib")
    (tmp_path / "state/index/lib.sqlite3").write_bytes(b"no database, but long enough to be read as one" * 40)
    said = session.search("retry")
    assert "mine.py:1" in said and "lib is left out" in said and "--rebuild" in said


def test_a_trusted_tree_is_searched_by_what_it_declares(searching, tmp_path):
    tree = tmp_path / "alone"
    (tree / ".spear").mkdir(parents=True)
    (tree / "a.py").write_text("def retry_limit(): pass\n")
    (tree / "left.py").write_text("def retry_limit(): pass\n")
    declaration = tree / ".spear/project.toml"
    declaration.write_text('exclude = ["left.py"]\ncorpora = ["lib"]\n')
    StateDirectory(tmp_path / "state").prepare()
    TrustStore(StateDirectory(tmp_path / "state").trusted).trust(declaration)
    session = searching(where="alone")
    reindexed(session, "alone", "lib")
    assert shown(session) == [["alone", "a.py:1"], ["lib", "lib.py:1"]]


class _Embeddings(BaseHTTPRequestHandler):
    """Whatever speaks of a vehicle is one vector, the rest another."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.append(self.headers["Authorization"])
        data = [
            {"object": "embedding", "index": number, "embedding": [1.0, 0.0] if "vehicle" in text else [0.0, 1.0]}
            for number, text in enumerate(text.replace("wagon", "vehicle") for text in body["input"])
        ]
        reply = json.dumps({"object": "list", "model": body["model"], "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


@pytest.fixture
def embeddings():
    """A server of the /embeddings protocol: its base, and the keys it was given."""
    pytest.importorskip("numpy")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embeddings)
    server.keys = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", server
    server.shutdown()
    server.server_close()


def test_an_embedding_endpoint_of_the_operator_is_used_for_indexing_and_searching(
    searching, tmp_path, embeddings, capsys
):
    url, server = embeddings
    (tmp_path / "mine/hit.txt").write_text("the wagon rolls\n")
    variables = {"SPEAR_EMBEDDING_URL": url, "SPEAR_EMBEDDING_MODEL": "m", "SPEAR_EMBEDDING_KEY_ENV": "EMBED_KEY"}
    session = searching(EMBED_KEY="sesame", **variables)
    environ = {"HOME": str(tmp_path), "SPEAR_PROJECTS_FILE": str(tmp_path / "projects.json")}
    environ |= {"SPEAR_STATE_DIR": str(tmp_path / "state"), "EMBED_KEY": "sesame", **variables}
    assert index.run(index._parser().parse_args(["--vectors"]), environ, tmp_path / "mine") == 0
    assert "2 passages have vectors" in capsys.readouterr().out
    assert "hit.txt:1" in session.search("vehicle")
    assert set(server.keys) == {"Bearer sesame"}


def test_an_endpoint_that_is_gone_leaves_the_search_by_words(searching, embeddings, tmp_path):
    url, server = embeddings
    variables = {"SPEAR_EMBEDDING_URL": url, "SPEAR_EMBEDDING_MODEL": "m", "SPEAR_EMBEDDING_KEY_ENV": ""}
    session = searching(**variables)
    reindexed(session, "")
    corpus = tmp_path / "state/index/mine.sqlite3"
    with EndpointEmbedder(url, "m") as embedder:
        assert list(embed_missing(corpus, embedder))
    server.shutdown()
    server.server_close()
    said = session.search("retry")
    assert "mine.py:1" in said and "search is by words alone" in said


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"SPEAR_EMBEDDING_MODEL": ""}, "SPEAR_EMBEDDING_MODEL"),
        ({"SPEAR_EMBEDDING_MODEL": "m", "SPEAR_EMBEDDING_KEY_ENV": "NOT_THERE"}, "NOT_THERE"),
    ],
)
def test_an_endpoint_that_lacks_something_says_what(searching, variables, says):
    assert says in searching(SPEAR_EMBEDDING_URL="http://127.0.0.1:9/v1", **variables).search("retry")
