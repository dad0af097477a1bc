"""An http or https address, read strictly: what it names is what is connected to and what the operator is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import quote, urljoin, urlsplit

from spear.web.problem import WebProblem

LONGEST = 2048
"""Characters of an address."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_.])?")
_REMEDY = "give an address such as https://example.org/page"
# What may stand in a path or a query as it is; everything else is written as %XX.
_KEPT = "%/:?&=~#+!$,;'()*@[]-._"


@dataclass(frozen=True, slots=True)
class Location:
    """One address. `host` is lower case ASCII without brackets; `target` is the path with its query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """`host`, with the port where it is not the scheme's own."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def url(self) -> str:
        """The address as it is requested."""
        return f"{self.scheme}://{self.authority}{self.target}"


def location_of(text: str) -> Location | WebProblem:
    """The location `text` names, or what is wrong with it. Nothing is looked up."""
    text = text.strip()
    if len(text) > LONGEST:
        return _wrong(f"it is longer than {LONGEST} characters")
    if re.search(r"[\x00-\x20\x7f]", text):
        return _wrong("it holds blanks or control characters; write a blank as %20")
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError as error:
        return _wrong(str(error).lower())
    if scheme not in _DEFAULT_PORTS:
        return WebProblem("scheme", f"{scheme or 'no scheme'} is neither http nor https", _REMEDY, refused=True)
    if "@" in parts.netloc:
        return WebProblem("credentials", "it carries a user name or a password", "leave them out", refused=True)
    named = _address(host) if "[" in parts.netloc else _host(host)
    if not named or port == 0:
        return _wrong("it names no host that can be looked up")
    target = quote(parts.path or "/", safe=_KEPT) + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
    return Location(scheme, named, port or _DEFAULT_PORTS[scheme], target)


def redirected(start: Location, reference: str) -> Location | WebProblem:
    """Where a `Location` header leads."""
    try:
        return location_of(urljoin(start.url, quote(reference.strip(), safe=_KEPT)))
    except ValueError as error:
        return _wrong(str(error).lower())


def _address(host: str) -> str:
    """The address in brackets, without a zone: one of the link is not public anyway; "" when it is none."""
    try:
        return "" if "%" in host else str(IPv6Address(host))
    except ValueError:
        return ""


def _host(host: str) -> str:
    """A host name in ASCII, or an IPv4 address; "" when it is neither."""
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError:
            return ""
    host = host.lower()
    return host if _HOST.fullmatch(host) else ""


def _wrong(reason: str) -> WebProblem:
    return WebProblem("no_address", reason, _REMEDY)
