"""The addresses at which ``make run`` listens, the host names it accepts, and the addresses it prints."""

import http.server
import socket
import threading
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from menace_site.local import addresses
from menace_site.local.addresses import (
    ListenAddress,
    default_hosts,
    find_listen_address,
    own_addresses,
    parse_hosts,
    parse_list,
    reachable_hosts,
)
from menace_site.local.errors import ServerError
from menace_site.local.supervisor import Supervisor
from tests.conftest import CannotTry

V4, V4_TOO, V6 = (ip_address(text) for text in ("192.168.1.20", "10.0.0.7", "fd00::1"))


def free_port(family: int = socket.AF_INET, host: str = "127.0.0.1") -> int:
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a computer with a fixed name and three addresses."""
    monkeypatch.setattr(addresses, "own_addresses", lambda: [V4, V4_TOO, V6])
    monkeypatch.setattr(socket, "gethostname", lambda: "Beads.school.example")


def test_lists_have_no_blanks_and_no_empty_entries() -> None:
    assert parse_list(" a , b,,c ,\t, ") == ["a", "b", "c"]
    assert parse_list("") == parse_list(" , ") == []


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("192.168.1.20", ["192.168.1.20"]),
        (" beadbox.example , .beadbox.example,*,", ["beadbox.example", ".beadbox.example", "*"]),
        ("[FD00:0::1], fd00::2", ["[fd00::1]", "[fd00::2]"]),
        ("", []),
    ],
)
def test_hosts_are_read_as_django_compares_them(text: str, hosts: list[str]) -> None:
    assert parse_hosts(text) == hosts


@pytest.mark.parametrize(
    "entry",
    [
        "http://192.168.1.20",
        "https://beadbox.example",
        "192.168.1.20:8000",
        "[fd00::1]:8000",
        "localhost:8000",
        "beadbox.example/",
        "a b",
        "user@host",
        "*.beadbox.example",
        "localhost;beadbox.example",
    ],
)
def test_a_host_with_a_scheme_or_a_port_is_refused_by_name(entry: str) -> None:
    with pytest.raises(ServerError, match=r"ALLOWED_HOSTS has .* without scheme, port or path") as refusal:
        parse_hosts(f"beads.example, {entry}")
    assert repr(entry) in str(refusal.value)


def test_own_addresses_come_from_the_interfaces() -> None:
    flags_by_address = dict(addresses._interface_addresses())
    assert ip_address("127.0.0.1") in flags_by_address
    assert not any(address.is_loopback for address in own_addresses())
    assert set(addresses.default_addresses()) <= set(own_addresses())


def test_tunnels_come_last_and_inactive_interfaces_are_omitted(monkeypatch: pytest.MonkeyPatch) -> None:
    up = addresses.IFF_UP | addresses.IFF_RUNNING
    bridge, tunnel, network = ip_address("172.17.0.1"), ip_address("10.8.0.2"), ip_address("192.168.1.20")
    flags_by_address = {bridge: addresses.IFF_UP, tunnel: up | addresses.IFF_POINTOPOINT, network: up}
    monkeypatch.setattr(addresses, "_interface_addresses", flags_by_address.items)
    monkeypatch.setattr(addresses, "default_addresses", lambda: [tunnel])
    assert own_addresses() == [network, tunnel]


@pytest.mark.parametrize("bind", ["", "127.0.0.1", " ", "[::1]"])
def test_loopback_bind_allows_loopback_hosts_only(bind: str, computer: None) -> None:
    assert default_hosts(bind) == addresses.LOOPBACK_HOSTS


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "192.168.1.20", "fd00::1"])
def test_listening_site_answers_to_its_own_addresses_and_names(bind: str, computer: None) -> None:
    own = ["192.168.1.20", "10.0.0.7", "[fd00::1]", "beads.school.example", "beads.local"]
    assert default_hosts(bind) == [*addresses.LOOPBACK_HOSTS, *own]


def test_a_site_listens_on_the_bind_address(computer: None) -> None:
    assert default_hosts("127.0.0.2")[-1] == "127.0.0.2"
    assert default_hosts("Lab.example")[-1] == "lab.example"


LAN = ["192.168.1.20", "10.0.0.7"]
HERE, ALL_V4, ALL, ONE, ONE_V6 = (
    ListenAddress(ip_address("127.0.0.1"), 8000, is_given=False),
    ListenAddress(ip_address("0.0.0.0"), 8000),
    ListenAddress(ip_address("::"), 8000, is_dual=True),
    ListenAddress(V4, 8000),
    ListenAddress(V6, 8000),
)


@pytest.mark.parametrize(
    ("listen", "allowed", "printed"),
    [
        (HERE, "", ["localhost"]),
        (HERE, "127.0.0.1", ["127.0.0.1"]),
        (HERE, "beads.example", ["beads.example"]),
        (ListenAddress(ip_address("127.0.0.2"), 8000), "", ["127.0.0.2"]),
        (ALL_V4, "", LAN),
        (ALL_V4, "*", LAN),
        (ALL_V4, "localhost,10.0.0.7", ["10.0.0.7"]),
        (ALL_V4, ".example.org", ["example.org"]),
        (ALL_V4, "localhost", ["localhost"]),
        (ALL, "", [*LAN, "[fd00::1]"]),
        (ALL, "[FD00::0:1]", ["[fd00::1]"]),
        (ONE, "", ["192.168.1.20"]),
        (ONE_V6, "*", ["[fd00::1]"]),
    ],
)
def test_printed_addresses_are_allowed_and_reachable(
    listen: ListenAddress, allowed: str, printed: list[str], computer: None
) -> None:
    """Printed addresses answer from other computers if any address does."""
    assert listen.hosts(allowed) == printed


@pytest.mark.parametrize(
    ("listen", "allowed", "warning"),
    [
        (HERE, "", ""),
        (HERE, "localhost", ""),
        (HERE, "192.168.1.20", "set BIND too"),
        (ALL_V4, "192.168.1.20", ""),
        (ALL_V4, "192.168.1.21", "other computers reach it at 192.168.1.20, 10.0.0.7"),
        (ONE, "localhost", "other computers reach it at 192.168.1.20"),
    ],
)
def test_hosts_that_exclude_every_address_are_reported(
    listen: ListenAddress, allowed: str, warning: str, computer: None
) -> None:
    text = listen.warning(allowed)
    assert warning in text
    assert bool(text) is bool(warning)


@pytest.mark.parametrize(
    ("bind", "address"),
    [
        ("", "127.0.0.1"),
        ("0.0.0.0", "0.0.0.0"),
        ("0", "0.0.0.0"),
        ("localhost", "127.0.0.1"),
        (" 127.0.0.2 ", "127.0.0.2"),
    ],
)
def test_bind_names_an_address_of_this_computer(bind: str, address: str) -> None:
    assert str(find_listen_address(bind, free_port()).address) == address


@pytest.mark.parametrize(("bind", "own_address"), [("::", "::1"), ("[::1]", "::1"), ("::ffff:127.0.0.1", "127.0.0.1")])
def test_bind_may_be_of_ipv6(bind: str, own_address: str, cannot_try: CannotTry) -> None:
    if ip_address("::1") not in dict(addresses._interface_addresses()):
        with pytest.raises(ServerError, match=r"^BIND is "):
            find_listen_address(bind, 8000)
        cannot_try("an address of IPv6 (it has none)")
        return
    assert find_listen_address(bind, free_port(socket.AF_INET6, "::1")).own_address == own_address


@pytest.mark.parametrize(
    "bind",
    [
        "198.51.100.9",
        "http://192.168.1.20",
        "192.168.1.20:8000",
        "*",
        "no-such-host.invalid",
        "fe80::1",
        "a" * 70,
        "999.1.1.1",
    ],
)
def test_a_wrong_bind_is_not_blamed_on_the_port(bind: str) -> None:
    with pytest.raises(ServerError, match=r"^BIND is ") as refusal:
        find_listen_address(bind, port := free_port())
    assert repr(bind) in str(refusal.value)
    assert str(port) not in str(refusal.value)


def test_a_port_in_use_is_blamed_on_the_port() -> None:
    with socket.socket() as other_socket:
        other_socket.bind(("127.0.0.1", 0))
        other_socket.listen()
        with pytest.raises(ServerError, match=r"^Port \d+ cannot be used.*as in PORT="):
            find_listen_address("127.0.0.1", other_socket.getsockname()[1])


# The supervisor's check that its site is ready


class Ready(http.server.BaseHTTPRequestHandler):
    """Answers 200 to the host name that its server accepts, and 400 to any other."""

    def do_GET(self) -> None:
        self.send_response(200 if self.headers["Host"] == f"{self.server.host}:{self.server.server_port}" else 400)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[http.server.HTTPServer]:
    server = http.server.HTTPServer(("127.0.0.1", 0), Ready)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("allowed", ["", "192.168.1.20", ".example.org", "*", "[fd00::1]", "localhost"])
def test_readiness_probe_passes_for_any_list_without_proxy(
    allowed: str, computer: None, site: http.server.HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    supervisor = Supervisor(tmp_path, port=site.server_port)
    (host, *_) = ALL_V4.hosts(allowed)
    site.host = host  # type: ignore[attr-defined]
    assert supervisor._unready_reason(ALL_V4, host) == ""
    assert supervisor._unready_reason(ALL_V4, "elsewhere.example") == "400 Bad Request"


def test_current_hosts_are_reachable_from_other_computers(computer: None) -> None:
    assert reachable_hosts("", ["*"]) == reachable_hosts("127.0.0.1", ["*"]) == []
    assert reachable_hosts("0.0.0.0", default_hosts("0.0.0.0")) == ["192.168.1.20", "10.0.0.7"]
    assert reachable_hosts("0.0.0.0", ["10.0.0.7"]) == ["10.0.0.7"]
    assert reachable_hosts("198.51.100.9", ["*"]) == [], "the computer has lost this address"
