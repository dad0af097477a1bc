"""Which addresses may be connected to: those of the public internet, judged by number, never by name (spec 8.5).

Whatever spelling a host has (decimal, hexadecimal, a name that answers with a private address), what is judged is the
number that will be connected to. The table is IANA's of special purposes, held here so that the answer does not depend
on the version of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
AddressPolicy = Callable[[Address], str]
"""Why an address may not be connected to; "" when it may."""

_SPECIAL_V4 = tuple(
    (IPv4Network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a provider's shared network"),
        ("127.0.0.0/8", "this machine"),
        ("168.63.129.16/32", "a cloud platform's own service"),  # reached from within its machines alone
        ("169.254.0.0/16", "the local link"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "set aside for protocols"),
        ("192.0.2.0/24", "for documentation only"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "a private network"),
        ("198.18.0.0/15", "for benchmarks only"),
        ("198.51.100.0/24", "for documentation only"),
        ("203.0.113.0/24", "for documentation only"),
        ("224.0.0.0/4", "a multicast group"),
        ("240.0.0.0/4", "reserved"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_SPECIAL_V6 = tuple(
    (IPv6Network(network), what)
    for network, what in (
        ("2001::/23", "set aside for protocols (Teredo, ORCHID)"),
        ("2001:db8::/32", "for documentation only"),
        ("2002::/16", "a 6to4 tunnel"),
        ("3fff::/20", "for documentation only"),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")


def public_only(address: Address) -> str:
    """The policy of the product: "" for an address of the public internet, else what it is."""
    if isinstance(address, IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return public_only(inner)
        if address not in _GLOBAL_V6:
            return _outside(address)
        return next((what for network, what in _SPECIAL_V6 if address in network), "")
    return next((what for network, what in _SPECIAL_V4 if address in network), "")


def parsed(text: str) -> Address:
    """An address as a resolver gives it, its zone left out. Raises ValueError."""
    return ip_address(text.partition("%")[0])


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a connection to `address` ends at, by the system (mapped) or a gateway (NAT64)."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None


def _outside(address: IPv6Address) -> str:
    if address.is_loopback or address.is_unspecified:
        return "this machine"
    if address.is_multicast:
        return "a multicast group"
    return "the local link" if address.is_link_local else "no public address"
