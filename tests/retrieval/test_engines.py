"""The same index, whoever cuts the files: this process or the workers of a cluster."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from spear.errors import ConfigurationError
from spear.retrieval.embedding.minilm import MiniLm
from spear.retrieval.embedding.vectors import embed_missing
from spear.retrieval.engines import Cluster, InProcess
from spear.retrieval.indexing import finish, index_tree
from spear.retrieval.search import Index
from spear.retrieval.walk import Tree


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler and a worker, as processes of their own."""
    port = free_port()
    found = f"tcp://127.0.0.1:{port}"
    python = [sys.executable, "-m"]
    commands = [
        [*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        [*python, "distributed.cli.dask_worker", found, "--no-nanny", "--nthreads", "2", "--no-dashboard"],
    ]
    processes = [subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for c in commands]
    deadline = time.monotonic() + 60
    while not answers(port) and time.monotonic() < deadline:
        assert all(process.poll() is None for process in processes)
    yield found
    for process in reversed(processes):
        process.terminate()
        process.wait(timeout=30)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def rows(index) -> list[tuple[object, ...]]:
    with Index.open(index) as opened:
        return opened.connection.execute("SELECT rowid, * FROM passages ORDER BY rowid").fetchall()


def test_a_cluster_makes_the_very_index_that_this_process_makes(tree, tmp_path, address):
    for number in range(2_300):
        (tree / f"{number}.py").write_text(f"def camelCase{number}():\n    return {number}\n")
    here, there = tmp_path / "here.sqlite3", tmp_path / "there.sqlite3"
    finish(index_tree(Tree(tree), here, engine=InProcess()))
    with Cluster(address) as cluster:
        report = finish(index_tree(Tree(tree), there, engine=cluster))
    assert report.files == 2_303
    assert rows(here) == rows(there)


def test_a_cluster_embeds_what_this_process_would(tree, index, tmp_path, address):
    finish(index_tree(Tree(tree), index))
    with Cluster(address) as cluster:
        steps = list(embed_missing(index, MiniLm.load(), cluster))
    assert steps[-1].done == steps[-1].total == len(rows(index))


def test_a_failure_on_a_worker_is_a_failure_here(address):
    with Cluster(address) as cluster, pytest.raises(ZeroDivisionError):
        list(cluster.map(divide, [1, 0]))


def divide(number: int) -> float:
    return 1 / number


def test_nobody_at_the_address_is_an_error_with_a_way_out(monkeypatch):
    monkeypatch.setattr("spear.retrieval.engines._CONNECT_S", 1)
    with pytest.raises(ConfigurationError, match="no Dask scheduler answers"):
        Cluster(f"tcp://127.0.0.1:{free_port()}")


@pytest.mark.parametrize("count", [0, 1, 7])
def test_results_come_in_order_and_only_as_they_are_taken(count):
    taken = []

    def source():
        for number in range(count):
            taken.append(number)
            yield number

    results = InProcess().map(lambda number: number * 2, source())
    for expected in range(count):
        assert next(results) == expected * 2
        assert len(taken) <= expected + 2
    assert next(results, None) is None
