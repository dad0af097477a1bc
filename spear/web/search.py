"""Searching through the endpoint the operator has configured: SearXNG's or Brave's JSON (spec 8.5).

The endpoint is the operator's own choice, so it may be on this machine or in their network. It alone is spoken to: a
redirect is not followed, and what it finds is a stranger's text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from spear.web.address import Address
from spear.web.fetching import Answer, Fetch, Fetcher
from spear.web.problem import WebProblem
from spear.web.reading import decoded

BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"
SEARCH_S = 30.0

_ANSWER_BYTES = 4 << 20
_LONG = 500


class SearchApi(StrEnum):
    """What the endpoint speaks."""

    SEARXNG = "searxng"
    BRAVE = "brave"


@dataclass(frozen=True, slots=True)
class SearchEndpoint:
    """Where to search. `key` is never shown; SearXNG needs none."""

    url: str
    api: SearchApi = SearchApi.SEARXNG
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One thing found, in the endpoint's words."""

    title: str
    url: str
    text: str


def _of_the_operator(_: Address) -> str:
    return ""


class Search:
    """Searches one endpoint."""

    def __init__(self, endpoint: SearchEndpoint, fetcher: Fetcher | None = None) -> None:
        self.endpoint = endpoint
        self._fetcher = fetcher or Fetcher(_of_the_operator)

    def find(self, query: str, limit: int, cancelled: Callable[[], bool]) -> tuple[SearchResult, ...] | WebProblem:
        """At most `limit` results in the endpoint's order, or why there are none to be had."""
        headers = {"X-Subscription-Token": self.endpoint.key} if self.endpoint.api is SearchApi.BRAVE else {}
        fetch = Fetch(
            self._address(query, limit), cancelled=cancelled, whole=True, accept="application/json", headers=headers,
            redirects=0, limit=_ANSWER_BYTES,
        )  # fmt: skip
        answer = self._fetcher.get(fetch, SEARCH_S)
        if isinstance(answer, WebProblem):
            return answer if answer.code == "cancelled" else self._explained(answer)
        found = _results(answer, self.endpoint.api)
        return self._no_results() if found is None else found[:limit]

    def _address(self, query: str, limit: int) -> str:
        """The request's address: the endpoint's own, with the query added to whatever it carries."""
        parts = urlsplit(self.endpoint.url)
        if self.endpoint.api is SearchApi.BRAVE:
            asked = urlencode({"q": query, "count": limit})
            path = parts.path
        else:
            asked = urlencode({"q": query, "format": "json"})
            path = parts.path if parts.path.rstrip("/").endswith("/search") else f"{parts.path.rstrip('/')}/search"
        return urlunsplit(parts._replace(path=path, query=f"{parts.query}&{asked}" if parts.query else asked))

    def _explained(self, problem: WebProblem) -> WebProblem:
        """What went wrong, and which setting it hangs on. The address is shown without what could be a secret."""
        name = urlsplit(self.endpoint.url)
        shown = f"{name.scheme}://{name.netloc.rpartition('@')[2]}"
        remedy = "go on without it; the operator can look at web.search_url"
        match problem.code:
            case "status":
                said = problem.reason.partition(" answers ")[2]
                reason = f"the search endpoint {shown} answers {said}"
                if said.startswith(("401", "403")):
                    remedy = "go on without it; the operator can look at web.search_key_env, or allow JSON in SearXNG"
            case "redirects":
                reason = f"the search endpoint {shown} redirects elsewhere"
            case _:
                reason = f"the search endpoint {shown} cannot be used: {problem.reason}"
        return WebProblem("search_failed", reason, remedy)

    def _no_results(self) -> WebProblem:
        what = f"the search endpoint does not answer in {self.endpoint.api}'s JSON"
        return WebProblem("search_failed", what, "go on without it; the operator can look at web.search_api")


def _results(answer: Answer, api: SearchApi) -> tuple[SearchResult, ...] | None:
    """The results of an answer; None when it is none of this API."""
    try:
        found: Any = json.loads(decoded(answer.body, answer.charset))
    except (ValueError, RecursionError):
        return None
    if api is SearchApi.BRAVE:
        if not isinstance(found, Mapping) or found.get("type") != "search":
            return None
        rows = (found.get("web") or {}).get("results") or []
    else:
        rows = found.get("results") if isinstance(found, Mapping) else None
    if not isinstance(rows, list):
        return None
    return tuple(_result(row) for row in rows if isinstance(row, Mapping) and isinstance(row.get("url"), str))


def _result(row: Mapping[str, Any]) -> SearchResult:
    said = row.get("content") or row.get("description") or ""
    return SearchResult(_short(row.get("title")), _short(row["url"]), _short(said))


def _short(value: object) -> str:
    text = " ".join(str(value or "").split())
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
