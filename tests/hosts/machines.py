"""What docker-compose.yml describes, of Debian's own packages: every container a network namespace on this machine.

As root. Programs run as nobody in particular, on a file system that cannot be written to but for their volumes and
/tmp: what holds here of that holds in the containers. One capability they have: to read what is root's, as this
checkout and its Python may be.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from menace_site.local import processes
from menace_site.local.given_servers import redis_answers
from menace_site.local.servers import BASE_DIR
from tests.bench.prepared import work_out
from tests.hosts.compose import Compose
from tests.hosts.network import OUTSIDE, SURROUNDINGS, Host, address, bridge
from tests.sizes import IS_SMALL
from tests.waiting import wait_until

PACKAGES = {
    "caddy": "caddy",
    "redis-server": "redis-server",
    "dnsmasq": "dnsmasq-base",
    "ip": "iproute2",
    "setpriv": "util-linux",
    "wget": "wget",
}
"""Programs, and the packages of Debian that have them; PostgreSQL's are not on the path."""
FIRST_NUMBERS = {"postgres": 2, "proxy": 3, "redis": 4, "migrate": 5, "web": 11, "worker": 21, "clerk": 31, "beat": 41}
"""The last number of the address of the first host of a service."""
PORTS = {"postgres": 5432, "proxy": 443, "redis": 6379, "web": 8000, "worker": 9100, "clerk": 9100}
"""Where the hosts of a service listen."""
SITE_USER = 10001
CADDYFILE = BASE_DIR / "proxy" / "Caddyfile"
KERNELS = BASE_DIR / "var" / "hosts-kernels"
"""The volume of compiled kernels; kept, since they take a minute."""
COMPILED = BASE_DIR / "var" / "numba"
"""What the tests have compiled."""
CONFINED = """
set -e
hostname "$1"; user=$2; writable=$3; shift 3
for folder in $writable; do mount --bind "$folder" "$folder"; done
mount -o remount,bind,ro /
mount -t tmpfs -o mode=1777 tmpfs /tmp
echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --pdeathsig KILL \
    --bounding-set=-all,+dac_read_search --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search "$@"
"""
"""A program in its container: a name, folders of its own, no root; ``ip netns exec`` has given it its own mounts."""


class Machines:
    """The hosts. A host is named after its service, such as ``worker-2``."""

    site = "beadbox.local"
    """For a name that nobody else can resolve Caddy asks its own authority."""

    def __init__(self, n_webs: int, n_workers: int, code: Path = BASE_DIR) -> None:
        self.code = code
        self.secrets = {"SITE": self.site, "SECRET_KEY": os.urandom(40).hex(), "POSTGRES_PASSWORD": "beads"}
        self.compose = Compose(self.secrets, code)
        self.wanted = {"postgres": 1, "redis": 1, "web": n_webs, "worker": n_workers, "clerk": 1, "beat": 1, "proxy": 1}
        self.stack = contextlib.ExitStack()
        self.hosts: dict[str, Host] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Machines:
        with contextlib.ExitStack() as stack:
            self.var = Path(tempfile.mkdtemp(prefix="beadbox-hosts-", dir="/var/tmp"))
            stack.callback(shutil.rmtree, self.var, ignore_errors=True)
            self.var.chmod(0o755)
            (self.var / "log").mkdir()
            self._volume(KERNELS, SITE_USER)
            if IS_SMALL and COMPILED.exists():
                shutil.copytree(COMPILED, KERNELS, ignore=shutil.ignore_patterns("*.tmp.*"), dirs_exist_ok=True)
            stack.enter_context(bridge())
            stack.callback(self._stop_all)
            for service in ("migrate", *self.wanted):
                for number in range(self.wanted.get(service, 1)):
                    stack.enter_context(self._host(service, number + 1))
            self._name_hosts()
            self._image()
            self._databases()
            self._finished("migrate-1")
            if IS_SMALL:
                redis = f"redis://{address(FIRST_NUMBERS['redis'])}:{PORTS['redis']}/0"
                work_out(self.var / "prepared", DATABASE_URL=self.database, REDIS_URL=redis)
            for name in self.hosts:
                if name not in {"migrate-1", "postgres-1", "redis-1"}:
                    self.start(name)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    # What is asked of it

    endpoint = (address(FIRST_NUMBERS["proxy"]), 443)

    @property
    def authority(self) -> Path:
        """The certificate of the proxy's own authority."""
        return self.var / "caddy" / "caddy" / "pki" / "authorities" / "local" / "root.crt"

    def start(self, name: str) -> None:
        """Start the program of a host; a scheduler or a worker may be one more than there were."""
        service = name.rpartition("-")[0]
        if name not in self.hosts:
            self.stack.enter_context(self._host(service, int(name.rpartition("-")[2])))
            self._name_hosts()
        own = getattr(self, f"_{service}", self._of_site)
        command, user, folders, environment = own(service)
        # A core each, and two for a web host, as many processes as which it has: `nproc` says so.
        n_all, first = os.cpu_count() or 1, self.hosts[name].number
        cores = {(first + more) % n_all for more in range(2 if service == "web" else 1)}
        core = ["taskset", "--cpu-list", ",".join(map(str, sorted(cores)))]
        words = [
            *core,
            "unshare",
            "--uts",
            "sh",
            "-c",
            CONFINED,
            "sh",
            name,
            str(user),
            " ".join(map(str, folders)),
            *map(str, command),
        ]
        self.running[name] = self.hosts[name].start(words, self._log(name), cwd=self.code, **environment)

    def kill(self, name: str) -> None:
        """End what runs on a host, and let it say nothing."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        processes.bury(process)

    def release(self, code: Path) -> None:
        """What starts from now on is the program of another folder; the database is brought up to it."""
        self.code = code
        self.compose = Compose(self.secrets, code)
        self._image()
        self._finished("migrate-1")

    def stop(self, name: str) -> None:
        """Ask what runs on a host to end, as Docker does."""
        process = self.running.pop(name)
        processes.stop({process: signal.SIGTERM}, timeout_s=self._grace_s(name))

    def cut(self, name: str) -> None:
        """The cable of a host is pulled: it runs on, and nobody hears of it."""
        self.hosts[name].link("down")

    def join(self, name: str) -> None:
        """And put in again."""
        self.hosts[name].link("up")

    def manage(self, *words: str) -> str:
        """What a command of ``manage.py`` says, run by the clerk's host; its fault is ours."""
        _, _, _, environment = self._of_site("clerk")
        command = ["ip", "netns", "exec", self.hosts["clerk-1"].name, sys.executable, "manage.py", *words]
        environment["METRICS_DIR"] = str(self.var / "metrics")  # outside there is no /tmp of its own
        done = subprocess.run(
            command, env={**SURROUNDINGS, **environment}, check=False, capture_output=True, text=True, cwd=self.code
        )
        assert not done.returncode, done.stderr
        return done.stdout

    def log(self, name: str) -> str:
        """What a host has written so far."""
        return self._log(name).read_text(errors="replace")

    def is_well(self, name: str) -> bool:
        """What the service's own health check says."""
        service = name.rpartition("-")[0]
        _, _, _, environment = self._of_site(service)
        words = ["env", f"HOSTNAME={name}", *self.compose.health(service)]
        command = ["ip", "netns", "exec", self.hosts[name].name, *words]
        done = subprocess.run(
            command, env={**SURROUNDINGS, **environment}, check=False, capture_output=True, cwd=self.code
        )
        return not done.returncode

    def is_reached(self, name: str) -> bool:
        """Whether anything comes back from a host, be it that nobody listens there."""
        return isinstance(self._asked(name), ConnectionRefusedError | None)

    def is_served(self, name: str) -> bool:
        """Whether somebody listens on a host, where others would ask for its service."""
        return self._asked(name) is None

    def _asked(self, name: str) -> OSError | None:
        """Why nobody on a host can be talked to; ``None`` if somebody can."""
        where = self.address_of(name), PORTS[name.rpartition("-")[0]]
        try:
            socket.create_connection(where, 2).close()
        except OSError as error:
            return error
        return None

    def figure(self, name: str, what: str) -> float:
        """A figure of those that a worker host tells of itself; 0 where it has not counted any yet."""
        told = f"import urllib.request as u; print(u.urlopen('http://localhost:{PORTS['worker']}/metrics').read().decode())"
        command = ["ip", "netns", "exec", self.hosts[name].name, sys.executable, "-c", told]
        return figure_of(subprocess.check_output(command, text=True), what)

    def address_of(self, name: str) -> str:
        """Where a host is in its network."""
        return address(self.hosts[name].number)

    def hostname(self, name: str) -> str:
        """What a host takes for its name."""
        return name

    @property
    def database(self) -> str:
        """Where the database is, seen from here."""
        return f"postgres://beadbox:beads@{address(FIRST_NUMBERS['postgres'])}:{PORTS['postgres']}/beadbox"

    # How services start: command, user, folders that may be written to, environment

    def _of_site(self, service: str) -> tuple[list[str], int, list[Path], dict[str, str]]:
        if service == "proxy":
            return self._proxy(service)
        settings = {
            "METRICS_DIR": "/tmp/metrics",  # each container has a /tmp of its own here, and all one /dev/shm
            **self.compose.environment(service),
            "BEADBOX_VAR": str(self.image),
            "NUMBA_CACHE_DIR": str(KERNELS),
            "PATH": f"{BASE_DIR / '.venv' / 'bin'}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
            "HOME": "/tmp",
            "PYTHONPATH": str(self.code),
        }
        folders = [KERNELS]
        if service == "migrate" and self.code != BASE_DIR:  # releases of before still collect static files
            folders.append(self.image)
        if "BACKUP_DIR" in settings:
            folders.append(self._volume(self.var / "backups", SITE_USER))
            settings["BACKUP_DIR"] = str(folders[-1])
        return self.compose.command(service), SITE_USER, folders, settings

    def _postgres(self, service: str) -> tuple[list[str], int, list[Path], dict[str, str]]:
        user = pwd.getpwnam("postgres").pw_uid
        folder = self._volume(self.var / "postgres", user)
        _, *words = self.compose.command(service)
        networked = ["-D", str(folder), "-clisten_addresses=*", "-cunix_socket_directories="]
        return [f"{postgres_programs()}/postgres", *networked, *words], user, [folder], {}

    def _redis(self, service: str) -> tuple[list[str], int, list[Path], dict[str, str]]:
        folder = self._volume(self.var / "redis", SITE_USER)
        _, *words = self.compose.command(service)
        # As in the image: it listens to its network, which is the containers' own.
        networked = ["--bind", "0.0.0.0", "--dir", str(folder)]
        return ["redis-server", *words, *networked], SITE_USER, [folder], {}

    def _proxy(self, service: str) -> tuple[list[str], int, list[Path], dict[str, str]]:
        folder = self._volume(self.var / "caddy", SITE_USER)
        homes = {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": "/tmp", "HOME": "/tmp"}
        command = ["caddy", "run", "--config", str(CADDYFILE)]
        return command, SITE_USER, [folder], {**self.compose.environment(service), **homes}

    # How it is built

    @contextlib.contextmanager
    def _host(self, service: str, number: int):  # type: ignore[no-untyped-def]
        name = f"{service}-{number}"
        with Host(FIRST_NUMBERS[service] + number - 1) as host:
            names = Path("/etc/netns") / host.name
            names.mkdir(parents=True, exist_ok=True)
            try:
                (names / "resolv.conf").write_text(f"nameserver {address(OUTSIDE)}\noptions timeout:1 attempts:3\n")
                self.hosts[name] = host
                yield
            finally:
                shutil.rmtree(names)

    def _image(self) -> None:
        """What of a program is in its image only: static files, which processes of another go on without."""
        self.image = Path(tempfile.mkdtemp(prefix="image-", dir=self.var))
        self.image.chmod(0o755)
        self.manage("collectstatic", "--no-input", "--verbosity", "0")
        # Folders for kernels are made wherever Django starts, and here that was root's.
        subprocess.run(["chown", "-R", f"{SITE_USER}:{SITE_USER}", self.image, KERNELS], check=True)

    def _name_hosts(self) -> None:
        """Tell what Docker's names tell: the addresses of all containers of a service."""
        names = "".join(f"{address(host.number)} {name.rpartition('-')[0]}\n" for name, host in self.hosts.items())
        (self.var / "hosts").write_text(names)
        if "names" in self.running:
            self.running["names"].send_signal(signal.SIGHUP)  # reads them again
            return
        options = [
            "--keep-in-foreground",
            "--no-resolv",
            "--no-hosts",
            "--bind-interfaces",
            "--pid-file=",
            "--user=root",
        ]
        where = [f"--listen-address={address(OUTSIDE)}", f"--addn-hosts={self.var / 'hosts'}"]
        with self._log("names").open("ab") as output:
            self.running["names"] = processes.spawn(["dnsmasq", *options, *where], output=output)

    def _databases(self) -> None:
        """Make the database, as the image of PostgreSQL does, and start it and the broker."""
        user = pwd.getpwnam("postgres").pw_uid
        folder = self._volume(self.var / "postgres", user)
        secret = self.var / "password"
        secret.write_text("beads")
        made = [
            f"{postgres_programs()}/initdb",
            "-D",
            folder,
            "-U",
            "beadbox",
            "-A",
            "scram-sha-256",
            "--pwfile",
            secret,
        ]
        priv = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]
        subprocess.run([*priv, *made], check=True, stdout=subprocess.DEVNULL, cwd="/")
        with (folder / "pg_hba.conf").open("a") as rules:
            rules.write("host all all all scram-sha-256\n")
        self.start("postgres-1")
        self.start("redis-1")
        assert wait_until(self._made_database), self.log("postgres-1")
        assert wait_until(lambda: redis_answers(f"redis://{address(FIRST_NUMBERS['redis'])}")), self.log("redis-1")

    def _made_database(self) -> bool:
        try:
            where = f"host={address(FIRST_NUMBERS['postgres'])} user=beadbox password=beads dbname=postgres"
            with psycopg.connect(where, autocommit=True) as connection:
                connection.execute("CREATE DATABASE beadbox")
        except psycopg.OperationalError:
            return False
        return True

    def _finished(self, name: str) -> None:
        """Run what ends by itself, and well."""
        self.start(name)
        process = self.running.pop(name)
        assert process.wait() == 0, self.log(name)

    def _stop_all(self) -> None:
        processes.stop(dict.fromkeys(self.running.values(), signal.SIGINT))

    def _grace_s(self, name: str) -> float:
        service = self.compose.services[name.rpartition("-")[0]]
        return float(service.get("stop_grace_period", "10s").removesuffix("s"))

    def _log(self, name: str) -> Path:
        return self.var / "log" / f"{name}.log"

    def _volume(self, folder: Path, user: int) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        os.chown(folder, user, user)
        if user == pwd.getpwnam("postgres").pw_uid:
            folder.chmod(0o700)
        return folder


def figure_of(told: str, what: str) -> float:
    """A figure of what ``/metrics`` says; 0 where it is not there."""
    return sum(float(line.rpartition(" ")[2]) for line in told.splitlines() if line.rpartition(" ")[0] == what)


def postgres_programs() -> Path | None:
    """The folder of Debian's PostgreSQL, the newest that there is."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return max(folders, key=lambda folder: int(folder.parent.name), default=None)
