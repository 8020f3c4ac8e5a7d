"""Addresses of a local run: the address that it listens on, the allowed hosts, and the URLs that it prints.

Uses only the standard library, because the supervisor and the settings import it to read ``BIND`` and
``ALLOWED_HOSTS``.
"""

import ctypes
import errno
import re
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from menace_site.local.errors import ServerError

Address = IPv4Address | IPv6Address

LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
DISTANT_EXAMPLES = {socket.AF_INET: "198.51.100.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses reserved for documentation (RFC 5737, RFC 3849), as examples of an address behind the default route."""
IFF_UP, IFF_POINTOPOINT, IFF_RUNNING = 0x1, 0x10, 0x40
"""Flags of an interface (netdevice(7)), with the same values on Linux, BSD and macOS."""
HOST_PATTERN = re.compile(r"\*|\.?[a-z0-9]([a-z0-9.-]*[a-z0-9])?", re.IGNORECASE)


# Lists from the environment


def parse_list(text: str) -> list[str]:
    """Return the entries between the commas of a text, without surrounding blanks and empty entries."""
    return [entry for part in text.split(",") if (entry := part.strip())]


def parse_hosts(text: str) -> list[str]:
    """Return the hosts of ``ALLOWED_HOSTS`` as Django compares them: IPv6 compressed and in brackets.

    Raises:
        ServerError: an entry has a scheme, a port or a path, or is no host at all.
    """
    hosts = []
    for entry in parse_list(text):
        address = _address_or_none(entry)
        if address is None and not HOST_PATTERN.fullmatch(entry):
            raise ServerError(
                f"ALLOWED_HOSTS has {entry!r}: give each host alone, without scheme, port or path, "
                "such as 192.168.1.20, [fd00::1], beadbox.example or .beadbox.example."
            )
        hosts.append(entry if address is None else host_of(address))
    return hosts


def host_of(address: Address) -> str:
    """Format an address as the host of a URL."""
    return f"[{address.compressed}]" if address.version == 6 else str(address)


def _address_or_none(text: str) -> Address | None:
    with suppress(ValueError):
        return ip_address(text[1:-1] if text.startswith("[") and text.endswith("]") else text)
    return None


def _is_allowed(host: str, hosts: Sequence[str]) -> bool:
    """Whether Django accepts a host under these patterns of ``ALLOWED_HOSTS``."""
    return any(
        pattern in {"*", host} or (pattern.startswith(".") and f".{host}".endswith(pattern))
        for pattern in map(str.lower, hosts)
    )


# This computer


def own_addresses() -> list[Address]:
    """Return the addresses by which other computers may reach this one.

    Addresses of the default route come first. Addresses of tunnels come last, because computers in the same room rarely
    reach a VPN.
    """
    flags_of = {address: flags for address, flags in _interface_addresses() if flags & IFF_UP and flags & IFF_RUNNING}
    default_route_addresses = default_addresses()

    def order(address: Address) -> tuple[bool, bool, int]:
        return bool(flags_of.get(address, 0) & IFF_POINTOPOINT), address not in default_route_addresses, address.version

    candidates = [address for address in flags_of if not (address.is_loopback or address.is_link_local)]
    return sorted(dict.fromkeys([*default_route_addresses, *candidates]), key=order)


def default_addresses() -> list[Address]:
    """Return this computer's addresses on its default routes, IPv4 first; empty without a default route."""
    addresses: list[Address] = []
    for family, distant in DISTANT_EXAMPLES.items():
        # Connecting a UDP socket chooses a route and sends nothing.
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((distant, 9))
            addresses.append(ip_address(probe.getsockname()[0]))
    return [address for address in addresses if not (address.is_loopback or address.is_link_local)]


class _Interface(ctypes.Structure):
    """The first fields of ``struct ifaddrs`` of getifaddrs(3)."""


_Interface._fields_ = [
    ("next", ctypes.POINTER(_Interface)),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint),
    ("address", ctypes.POINTER(ctypes.c_ubyte * 24)),
]


def _interface_addresses() -> Iterator[tuple[Address, int]]:
    """Yield the addresses of this computer's interfaces, each with the flags of its interface."""
    libc = ctypes.CDLL(None)
    first = ctypes.POINTER(_Interface)()
    if libc.getifaddrs(ctypes.byref(first)):
        return
    try:
        entry = first
        while entry:
            if entry.contents.address:
                raw = bytes(entry.contents.address.contents[:8])
                # On Linux the family takes two bytes. On BSD and macOS a byte of length comes first, then the family.
                family = int.from_bytes(raw[:2], sys.byteorder) if sys.platform == "linux" else raw[1]
                if family == socket.AF_INET:
                    yield IPv4Address(raw[4:8]), entry.contents.flags
                elif family == socket.AF_INET6:
                    yield IPv6Address(bytes(entry.contents.address.contents[8:24])), entry.contents.flags
            entry = entry.contents.next
    finally:
        libc.freeifaddrs(first)


def default_hosts(bind: str) -> list[str]:
    """Return the hosts to allow if ``ALLOWED_HOSTS`` is empty: the names and addresses that ``bind`` listens on.

    ``bind`` is the value of ``BIND``; the loopback hosts are always included.
    """
    bind = bind.strip().lower()
    address = _address_or_none(bind)
    hosts = [*LOOPBACK_HOSTS]
    if bind and not (address and address.is_loopback):
        name = socket.gethostname().lower()
        hosts += [*map(host_of, own_addresses()), name, f"{name.partition('.')[0]}.local"]
    if bind and not (address and address.is_unspecified):
        hosts.append(host_of(address) if address else bind)
    return list(dict.fromkeys(hosts))


# The listening address


@dataclass(frozen=True)
class ListenAddress:
    """An address and a port on which this computer can listen."""

    address: Address
    port: int
    is_dual: bool = False
    """Whether an IPv6 socket also accepts connections over IPv4."""
    is_given: bool = True
    """Whether the address comes from ``BIND`` instead of the default."""

    @property
    def own_address(self) -> str:
        """The address by which this computer connects to itself."""
        if not self.address.is_unspecified:
            return str(self.address)
        return "127.0.0.1" if self.address.version == 4 else "::1"

    def reachable_addresses(self) -> list[Address]:
        """Return the addresses at which other computers reach the site."""
        if self.address.is_unspecified:
            return [address for address in own_addresses() if address.version == self.address.version or self.is_dual]
        return [] if self.address.is_loopback else [self.address]

    def hosts(self, allowed: str) -> list[str]:
        """Return the hosts to print, best first and never empty; ``allowed`` is the value of ``ALLOWED_HOSTS``.

        The result holds the allowed addresses that other computers reach. If no address is reachable, the result holds
        one allowed loopback host. If no loopback host is allowed either, it holds the entries of ``ALLOWED_HOSTS``.
        """
        patterns = parse_hosts(allowed) or ["*"]
        if reachable := [host for host in map(host_of, self.reachable_addresses()) if _is_allowed(host, patterns)]:
            return reachable
        loopback = [host_of(self.address)] if self.is_given and self.address.is_loopback else LOOPBACK_HOSTS
        allowed_loopback = [host for host in loopback if _is_allowed(host, patterns)]
        return allowed_loopback[:1] or [pattern.removeprefix(".") for pattern in patterns]

    def warning(self, allowed: str) -> str:
        """Return a warning if ``allowed``, the value of ``ALLOWED_HOSTS``, shuts out other computers; else ""."""
        patterns, reachable = parse_hosts(allowed), [host_of(address) for address in self.reachable_addresses()]
        if not patterns or any(_is_allowed(host, patterns) for host in reachable or LOOPBACK_HOSTS):
            return ""
        if not reachable:
            return "Only this computer reaches that address: set BIND too, as in BIND=0.0.0.0, to let others in."
        return f"ALLOWED_HOSTS has no address of this computer; other computers reach it at {', '.join(reachable)}."


def find_listen_address(bind: str, port: int) -> ListenAddress:
    """Return the address for ``BIND`` and ``PORT``, after a test that a socket can bind to it.

    Raises:
        ServerError: the socket cannot bind; the message names the wrong variable, BIND or PORT.
    """
    bind = bind.strip()
    try:
        address = _resolve(bind) if bind else IPv4Address("127.0.0.1")
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((str(address), port))
            is_dual = address.version == 6 and not probe.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
    except (OSError, UnicodeError) as error:  # getaddrinfo raises UnicodeError if a label of the name is too long.
        reason = (isinstance(error, OSError) and error.strerror) or "it is no name"
        if isinstance(error, OSError) and error.errno in {errno.EADDRINUSE, errno.EACCES}:
            free_port = 8080 if error.errno == errno.EACCES or port == 65535 else port + 1
            sentence = f"Port {port} cannot be used ({reason}): choose another"
            raise ServerError(f"{sentence}, as in PORT={free_port} make run.") from error
        raise ServerError(
            f"BIND is {bind!r}, at which this computer cannot listen ({reason}): give one of its addresses alone, "
            "such as 192.168.1.20, or 0.0.0.0 for all of them."
        ) from error
    return ListenAddress(address, port, is_dual, is_given=bool(bind))


def reachable_hosts(bind: str, allowed: Sequence[str]) -> list[str]:
    """Return the allowed hosts at which other computers reach a local run at this moment, best first.

    A computer that joins another network gets a new address. It is allowed after the next start.
    """
    try:
        reachable = find_listen_address(bind, 0).reachable_addresses()
    except ServerError:  # The computer has lost the address of BIND.
        return []
    return [host for host in map(host_of, reachable) if _is_allowed(host, allowed)]


def _resolve(bind: str) -> Address:
    """Return the address that ``BIND`` names; for a name with addresses of both versions, the IPv4 address."""
    address = _address_or_none(bind)
    if address is None:
        candidates = [ip_address(entry[4][0]) for entry in socket.getaddrinfo(bind, None, type=socket.SOCK_STREAM)]
        address = min(candidates, key=lambda candidate: candidate.version)
    if isinstance(address, IPv6Address):
        if address.is_link_local:
            raise OSError(errno.EADDRNOTAVAIL, "browsers do not open link-local addresses")
        return address.ipv4_mapped or address
    return address
