"""Searching through a real endpoint on this machine, in both its languages."""

from __future__ import annotations

import json

import pytest

from spear.web.problem import WebProblem
from spear.web.search import Search, SearchApi, SearchEndpoint, SearchResult
from tests.web.conftest import PageServer
from tests.web.documents import Page, redirect

SEARXNG = {"query": "q", "results": [
    {"title": "First", "url": "https://a.example/", "content": "about  \n it"}, {"title": None, "url": "https://b.example/"},
    {"title": "no address"}, "nonsense",
]}  # fmt: skip
BRAVE = {"type": "search", "web": {"results": [{"title": "B", "url": "https://b.example/", "description": "said"}]}}


def found(server: PageServer, document: object, limit: int = 8, path: str = "/search", **endpoint: object) -> object:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    server.pages[path] = Page(body, "application/json")
    return Search(SearchEndpoint(**{"url": server.base, **endpoint})).find("what's new & old", limit, lambda: False)


def test_searxng_is_asked_for_json_and_its_results_are_values(server):
    assert found(server, SEARXNG) == (
        SearchResult("First", "https://a.example/", "about it"), SearchResult("", "https://b.example/", ""),
    )  # fmt: skip
    assert server.paths == ["/search?q=what%27s+new+%26+old&format=json"]
    assert found(server, SEARXNG, limit=1) == (SearchResult("First", "https://a.example/", "about it"),)


def test_an_endpoint_below_a_path_keeps_it(server):
    assert found(server, SEARXNG, path="/sx/search", url=f"{server.base}/sx")
    assert found(server, SEARXNG, path="/sx/search", url=f"{server.base}/sx/search?language=en")
    assert server.paths[1].startswith("/sx/search?language=en&q=")


def test_brave_gets_its_key_in_a_header(server):
    url = f"{server.base}/res/v1/web/search"
    assert found(server, BRAVE, path="/res/v1/web/search", url=url, api=SearchApi.BRAVE, key="the-key") == (
        SearchResult("B", "https://b.example/", "said"),
    )
    path, headers = server.asked[0]
    assert headers["x-subscription-token"] == "the-key" and "the-key" not in path
    assert "the-key" not in repr(SearchEndpoint(url, SearchApi.BRAVE, "the-key"))


def test_nothing_found_is_an_answer(server):
    assert found(server, {"results": []}) == ()
    assert found(server, {"type": "search"}, path="/s", url=f"{server.base}/s", api=SearchApi.BRAVE) == ()


@pytest.mark.parametrize("document", [b"<html>", {"no": "results"}, [], b"[" * 100_000, {"results": "x"}])
def test_what_is_no_answer_of_this_api_is_said_to_be_none(server, document):
    told = found(server, document)
    assert isinstance(told, WebProblem) and told.code == "search_failed" and "web.search_api" in told.remedy


def test_the_remedy_names_the_setting(server):
    server.pages["/search"] = redirect("https://elsewhere.example/")
    search = Search(SearchEndpoint(server.base))
    moved = search.find("x", 3, lambda: False)
    assert isinstance(moved, WebProblem) and "redirects" in moved.reason and "web.search_url" in moved.remedy
    assert len(server.asked) == 1
    server.pages["/search"] = Page(b"", status=403)
    refused = search.find("x", 3, lambda: False)
    assert isinstance(refused, WebProblem) and "403" in refused.reason and "search_key_env" in refused.remedy
    server.close()
    gone = search.find("x", 3, lambda: False)
    assert isinstance(gone, WebProblem) and "cannot be used" in gone.reason and "127.0.0.1" in gone.reason
