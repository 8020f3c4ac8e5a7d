"""The services of docker-compose.yml from Debian's packages: each container is a network namespace on this machine.

Needs root. Programs run as an unprivileged user, and their file system is read-only except their volumes and /tmp. So
programs that work here without write access also work in the containers. The programs may also read root's files,
because this checkout and its Python may belong to root.
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
from tests.bench.prepared import prepare_here
from tests.hosts.compose import Compose
from tests.hosts.network import ORIGINAL_ENVIRONMENT, OUTSIDE, Host, address, bridge
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
"""Debian's package for each program. PostgreSQL's programs are not on the path."""
FIRST_NUMBERS = {"postgres": 2, "proxy": 3, "redis": 4, "migrate": 5, "web": 11, "worker": 21, "clerk": 31, "beat": 41}
"""Last number of the address of each service's first host."""
PORTS = {"postgres": 5432, "proxy": 443, "redis": 6379, "web": 8000, "worker": 9100, "clerk": 9100}
"""The port at which each service listens."""
SITE_USER = 10001
CADDYFILE = BASE_DIR / "proxy" / "Caddyfile"
KERNELS = BASE_DIR / "var" / "hosts-kernels"
"""The volume of compiled kernels. It is kept, since compiling takes a minute."""
COMPILED = BASE_DIR / "var" / "numba"
"""Kernels that the tests have compiled."""
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
"""Runs a program as in a container: host name, own folders, no root. ``ip netns exec`` gives it its own mounts."""


class Machines:
    """The hosts, named after their services: ``worker-2``."""

    site = "beadbox.local"
    """A name that cannot be resolved elsewhere, so that Caddy uses its own certificate authority."""

    def __init__(self, n_webs: int, n_workers: int, code: Path = BASE_DIR) -> None:
        self.code = code
        self.secrets = {"SITE": self.site, "SECRET_KEY": os.urandom(40).hex(), "POSTGRES_PASSWORD": "beads"}
        self.compose = Compose(self.secrets, code)
        self.n_containers = {
            "postgres": 1,
            "redis": 1,
            "web": n_webs,
            "worker": n_workers,
            "clerk": 1,
            "beat": 1,
            "proxy": 1,
        }
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
            for service in ("migrate", *self.n_containers):
                for number in range(self.n_containers.get(service, 1)):
                    stack.enter_context(self._host(service, number + 1))
            self._name_hosts()
            self._image()
            self._databases()
            self._run_to_end("migrate-1")
            if IS_SMALL:
                redis = f"redis://{address(FIRST_NUMBERS['redis'])}:{PORTS['redis']}/0"
                prepare_here(self.var / "prepared", DATABASE_URL=self.database, REDIS_URL=redis)
            for name in self.hosts:
                if name not in {"migrate-1", "postgres-1", "redis-1"}:
                    self.start(name)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    # The interface of a cluster, which tests.hosts.docker has too

    endpoint = (address(FIRST_NUMBERS["proxy"]), 443)

    @property
    def authority(self) -> Path:
        """The certificate of the proxy's own certificate authority."""
        return self.var / "caddy" / "caddy" / "pki" / "authorities" / "local" / "root.crt"

    def start(self, name: str) -> None:
        """Start the program of a host. A scheduler or worker may be an additional one."""
        service = name.rpartition("-")[0]
        if name not in self.hosts:
            self.stack.enter_context(self._host(service, int(name.rpartition("-")[2])))
            self._name_hosts()
        start_options = getattr(self, f"_{service}", self._site_service)
        command, user, folders, environment = start_options(service)
        # Each host has one core. A web host has two, because it runs a process for each core that `nproc` counts.
        n_all, first = os.cpu_count() or 1, self.hosts[name].number
        cores = {(first + offset) % n_all for offset in range(2 if service == "web" else 1)}
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
        """Kill the program of a host at once."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        processes.kill_group_and_wait(process)

    def release(self, code: Path) -> None:
        """Switch to the code of another folder for programs started from now on, and migrate the database."""
        self.code = code
        self.compose = Compose(self.secrets, code)
        self._image()
        self._run_to_end("migrate-1")

    def stop(self, name: str) -> None:
        """Stop the program of a host gracefully, as Docker does."""
        process = self.running.pop(name)
        processes.stop({process: signal.SIGTERM}, timeout_s=self._grace_s(name))

    def cut(self, name: str) -> None:
        """Cut a host off the network; its programs run on."""
        self.hosts[name].link("down")

    def join(self, name: str) -> None:
        """Connect a host to the network again."""
        self.hosts[name].link("up")

    def manage(self, *words: str) -> str:
        """Run a ``manage.py`` command on the host of the maintenance worker; return its output or fail."""
        _, _, _, environment = self._site_service("clerk")
        command = ["ip", "netns", "exec", self.hosts["clerk-1"].name, sys.executable, "manage.py", *words]
        environment["METRICS_DIR"] = str(self.var / "metrics")  # this command has no /tmp of its own
        done = subprocess.run(
            command,
            env={**ORIGINAL_ENVIRONMENT, **environment},
            check=False,
            capture_output=True,
            text=True,
            cwd=self.code,
        )
        assert not done.returncode, done.stderr
        return done.stdout

    def log(self, name: str) -> str:
        return self._log(name).read_text(errors="replace")

    def is_healthy(self, name: str) -> bool:
        """Whether the service's health check succeeds."""
        service = name.rpartition("-")[0]
        _, _, _, environment = self._site_service(service)
        words = ["env", f"HOSTNAME={name}", *self.compose.health(service)]
        command = ["ip", "netns", "exec", self.hosts[name].name, *words]
        done = subprocess.run(
            command, env={**ORIGINAL_ENVIRONMENT, **environment}, check=False, capture_output=True, cwd=self.code
        )
        return not done.returncode

    def is_reachable(self, name: str) -> bool:
        """Return whether a host responds; a refused connection is a response."""
        return isinstance(self._connection_error(name), ConnectionRefusedError | None)

    def is_listening(self, name: str) -> bool:
        """Whether a host accepts connections at its service's port."""
        return self._connection_error(name) is None

    def _connection_error(self, name: str) -> OSError | None:
        """Return the error of connecting to a host's service, or ``None``."""
        where = self.address_of(name), PORTS[name.rpartition("-")[0]]
        try:
            socket.create_connection(where, 2).close()
        except OSError as error:
            return error
        return None

    def figure(self, name: str, what: str) -> float:
        """Return a metric of a worker host, or 0 if it has no samples yet."""
        script = f"import urllib.request as u; print(u.urlopen('http://localhost:{PORTS['worker']}/metrics').read().decode())"
        command = ["ip", "netns", "exec", self.hosts[name].name, sys.executable, "-c", script]
        return figure_of(subprocess.check_output(command, text=True), what)

    def address_of(self, name: str) -> str:
        return address(self.hosts[name].number)

    def hostname(self, name: str) -> str:
        """Return a host's own host name."""
        return name

    @property
    def database(self) -> str:
        """The database's URL as seen from this process."""
        return f"postgres://beadbox:beads@{address(FIRST_NUMBERS['postgres'])}:{PORTS['postgres']}/beadbox"

    # How services start: command, user, folders that may be written to, environment

    def _site_service(self, service: str) -> tuple[list[str], int, list[Path], dict[str, str]]:
        if service == "proxy":
            return self._proxy(service)
        settings = {
            "METRICS_DIR": "/tmp/metrics",  # here each container has its own /tmp, but all share one /dev/shm
            **self.compose.environment(service),
            "BEADBOX_VAR": str(self.image),
            "NUMBA_CACHE_DIR": str(KERNELS),
            "PATH": f"{BASE_DIR / '.venv' / 'bin'}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
            "HOME": "/tmp",
            "PYTHONPATH": str(self.code),
        }
        folders = [KERNELS]
        if service == "migrate" and self.code != BASE_DIR:  # older releases still collect static files
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
        # As in the image, listens to its network, which only the containers share.
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
        """Create the folder of an image: static files. Processes of an older release keep their own."""
        self.image = Path(tempfile.mkdtemp(prefix="image-", dir=self.var))
        self.image.chmod(0o755)
        self.manage("collectstatic", "--no-input", "--verbosity", "0")
        # Django creates the folders for kernels at start-up, and here root owned them.
        subprocess.run(["chown", "-R", f"{SITE_USER}:{SITE_USER}", self.image, KERNELS], check=True)

    def _name_hosts(self) -> None:
        """Serve the names that Docker's DNS serves: for each service the addresses of all its containers."""
        names = "".join(f"{address(host.number)} {name.rpartition('-')[0]}\n" for name, host in self.hosts.items())
        (self.var / "hosts").write_text(names)
        if "names" in self.running:
            self.running["names"].send_signal(signal.SIGHUP)  # makes dnsmasq read the names again
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
        """Create the database, as PostgreSQL's image does, and start database and broker."""
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
        assert wait_until(self._is_database_created), self.log("postgres-1")
        assert wait_until(lambda: redis_answers(f"redis://{address(FIRST_NUMBERS['redis'])}")), self.log("redis-1")

    def _is_database_created(self) -> bool:
        try:
            where = f"host={address(FIRST_NUMBERS['postgres'])} user=beadbox password=beads dbname=postgres"
            with psycopg.connect(where, autocommit=True) as connection:
                connection.execute("CREATE DATABASE beadbox")
        except psycopg.OperationalError:
            return False
        return True

    def _run_to_end(self, name: str) -> None:
        """Run a program that ends by itself, and check its exit status."""
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


def figure_of(metrics: str, what: str) -> float:
    """Return a metric from the text of ``/metrics``, or 0 if it is missing."""
    return sum(float(line.rpartition(" ")[2]) for line in metrics.splitlines() if line.rpartition(" ")[0] == what)


def postgres_programs() -> Path | None:
    """Return the folder of Debian's newest PostgreSQL programs, or ``None``."""
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return max(folders, key=lambda folder: int(folder.parent.name), default=None)
