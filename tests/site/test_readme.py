"""Each ``make run`` line of the README, unchanged, in a network with its address, and visited from another host."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from menace_site.local.servers import BASE_DIR
from tests.bench.prepared import prepare
from tests.conftest import CannotTry
from tests.environment import shell_environment
from tests.site.test_supervisor import read
from tests.waiting import HANG_S, wait_until

README = " ".join((BASE_DIR / "README.md").read_text().split())
RUN_COMMANDS = list(dict.fromkeys(re.findall(r"(?:[A-Z_]+=[^ `]+ )*make (?:[A-Z_]+=[^ `]+ )*run\b", README)))
PRINTED_URL_PATTERN = re.compile(r"http://[^\s,]+")
V4, V6 = "192.168.1.20", "fd00:77::20"
"""The README's example address, and an address of IPv6."""
pytestmark = pytest.mark.soak


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def missing_requirement() -> str:
    """Return the reason why this machine can have no second host, or an empty string."""
    if os.geteuid():
        return "only root may make network namespaces"
    if shutil.which("ip") is None:
        return "there is no ip: apt install iproute2"
    refused = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode
    return "network namespaces are refused" if refused else ""


@contextmanager
def make_two_hosts() -> Iterator[tuple[list[str], list[str]]]:
    """Create two hosts; yield the command prefixes that run a program on the site's host and on the other one."""
    site, other = (f"readme-{os.getpid()}-{name}" for name in ("site", "other"))
    with ExitStack() as after:
        for name in (site, other):
            ip("netns", "add", name)
            after.callback(ip, "netns", "del", name)
        ip("-n", site, "link", "add", "lan", "type", "veth", "peer", "name", "lan", "netns", other)
        for name, v4, v6 in ((site, V4, V6), (other, "192.168.1.30", "fd00:77::30")):
            ip("-n", name, "addr", "add", f"{v4}/24", "dev", "lan")
            ip("-n", name, "addr", "add", f"{v6}/64", "dev", "lan", "nodad")
            for link in ("lan", "lo"):
                ip("-n", name, "link", "set", link, "up")
        yield ["ip", "netns", "exec", site], ["ip", "netns", "exec", other]


@contextmanager
def run_site(line: str, var: Path, before: list[str]) -> Iterator[list[str]]:
    """Run a line in a shell, yield the addresses that it prints once it serves, and end it by Ctrl-C."""
    # The packages are there. Nothing is installed, as a second host reaches no registry.
    env = shell_environment() | {"BEADBOX_VAR": str(var), "MAKEFLAGS": "SITE= SERVERS="}
    output = var / "output"
    with output.open("wb") as file:
        run = subprocess.Popen(
            [*before, "sh", "-c", line], cwd=BASE_DIR, env=env, stdout=file, stderr=file, start_new_session=True
        )
    try:

        def is_served() -> bool:
            assert run.poll() is None, read(output)
            return "Beadbox is at" in read(output)

        assert wait_until(is_served), read(output)
        text = read(output)
        assert text.startswith("Starting Beadbox on this computer"), text
        urls = PRINTED_URL_PATTERN.findall(text[text.index("Beadbox is at") :])
        yield [url for url in urls if not url.endswith("/class")]  # QR codes have the page of a class
    finally:
        os.killpg(run.pid, signal.SIGINT)
        run.wait(HANG_S)
    assert "Beadbox has stopped." in read(output)


def visit_error(url: str, before: list[str]) -> str:
    """Return the error of a player on the other host at an address, or an empty string."""
    command = [*before, sys.executable, "-m", "tests.site.visitor_by_address", url, f"p{os.urandom(6).hex()}"]
    process = subprocess.run(command, cwd=BASE_DIR, capture_output=True, text=True, check=False)
    return "" if process.returncode == 0 else process.stderr


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all runs, set up once."""
    folder = tmp_path_factory.mktemp("readme")
    prepare(folder)
    return folder


def test_readme_shows_how_a_class_connects() -> None:
    assert RUN_COMMANDS[0] == "make run"
    assert sum("BIND=" in line for line in RUN_COMMANDS) >= 2


HEADERS_OF_OTHERS = [
    "BIND=:: make run",
    f"BIND=:: ALLOWED_HOSTS=' .example.org , [{V6.upper()}],' make run",
]
"""Lines that follow from the README."""


@pytest.mark.parametrize("line", [*RUN_COMMANDS, *HEADERS_OF_OTHERS])
def test_each_line_of_the_readme_starts_a_reachable_site(line: str, var: Path, cannot_try: CannotTry) -> None:
    if reason := missing_requirement():
        cannot_try(f"the lines of the README from a second host ({reason})")
        local_line = re.sub(r"\b(BIND|ALLOWED_HOSTS)=('[^']*'|\S+)", lambda match: f"{match[1]}=127.0.0.2", line)
        with run_site(local_line, var, []) as urls:
            assert not visit_error(urls[0], [])
        return
    with make_two_hosts() as (site, other), run_site(line, var, site) as urls:
        assert urls
        for url in urls:
            if "BIND=" in line:
                assert not visit_error(url, other)
            else:
                assert not visit_error(url, site)
                assert "refused" in visit_error(url.replace("localhost", V4), other)


def test_allowed_hosts_without_own_address_let_names_in(var: Path) -> None:
    """The supervisor's own check passes too, although the list has no address of the computer."""

    def status(host: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.2", 8462, timeout=HANG_S)
        with closing(connection):
            connection.request("GET", "/", headers={"Host": host})
            return connection.getresponse().status

    with run_site("BIND=127.0.0.2 ALLOWED_HOSTS=.example.org PORT=8462 make run", var, []) as urls:
        assert urls[0] == "http://example.org:8462"
        assert status("class.example.org:8462") == 200
        assert status("127.0.0.2:8462") == 400
