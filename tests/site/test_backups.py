"""Back-ups in one file, made during use, and sites restored from them; refusals change nothing."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from beadbox.rules.outcome import Side
from games.accounts import tokens
from games.live.play import match_resign
from games.live.rooms import room_create
from games.models import ApiToken, Match
from learning.models import Lesson, Machine
from menace_site.management.commands import restore
from menace_site.operations import backups
from menace_site.operations.backups import (
    BackupError,
    accounts_log_out,
    backup_daily,
    backup_make,
    backup_restore,
    digest_path,
)
from tests.conftest import CannotTry
from tests.factories import NC, guest, house_machines, trained_machine, user
from tests.threads import at_once
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

RESTORE_AND_PLAY = """
import json, sys
from uuid import UUID
import django
django.setup()
from django.contrib.sessions.models import Session
from django.core.management import call_command
from games.live.play import match_play_move
from games.models import ApiToken, Match
from games.accounts.principal import Principal
from learning.models import Lesson, Machine
from menace_site.operations.backups import run_missing_servers
file, code, move, *options = sys.argv[1:]
with run_missing_servers():
    call_command("restore", file, *options, stdout=sys.stderr)
    found = {"lessons": Lesson.objects.count(), "matches": Match.objects.count()}
    found["games"] = sum(Machine.objects.values_list("n_games", flat=True))
    found["sessions"] = list(Session.objects.values_list("pk", flat=True))
    found["tokens"] = ApiToken.objects.filter(revoked_at=None).count()
    found["plies"] = match_play_move(code=code, move=move, person=Principal(guest=UUID(int=1)))["number"]
    call_command("audit", stdout=sys.stderr)
print(json.dumps(found))
"""


def restore_and_play(file: Path, var: Path, *arguments: str) -> tuple[dict[str, object], str]:
    """Restore the file into a new local site, and play a move there. Return the site's figures and the output."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("BEADBOX_")}
    env |= {"DJANGO_SETTINGS_MODULE": "menace_site.settings", "BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(var)}
    env |= {"SECRET_KEY": settings.SECRET_KEY, "REDIS_PREFIX": "restored"}
    process = subprocess.run(
        [sys.executable, "-c", RESTORE_AND_PLAY, str(file), *arguments],
        env=env, capture_output=True, text=True, check=False, timeout=HANG_S,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout), process.stderr


@contextlib.contextmanager
def site_in_use(learner: Machine) -> Iterator[Callable[[], int]]:
    """Train and play during the block. Yield a function that returns the smaller number of trainings and matches."""
    is_over, counts = threading.Event(), [0, 0]

    def train() -> None:
        while not is_over.is_set():
            trained_machine(Machine.objects.get(pk=learner.pk), games=50, seed=counts[0])
            counts[0] += 1

    def play() -> None:
        while not is_over.is_set():
            seated = room_create(person=guest(2), game=NC, opponent="menace", side=Side.FIRST)
            match_resign(code=seated.room.code, person=guest(2))
            counts[1] += 1

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(at_once, train, play)
        try:
            yield lambda: min(counts)
        finally:
            is_over.set()
        assert running.result() == []


def test_site_resumes_from_a_copy_made_during_use(tmp_path: Path) -> None:
    learner = house_machines()[Side.SECOND]
    code = room_create(person=guest(), game=NC, opponent="menace", side=Side.FIRST).room.code
    account = user()
    tokens.token_make(user=account, name="a program", scopes=["read"], lifetime=None)
    of_guest, of_account = SessionStore(), SessionStore()
    of_guest["guest"], of_account[SESSION_KEY] = "1", str(account.pk)
    of_guest.save(), of_account.save()
    with site_in_use(learner) as n_done:
        assert wait_until(lambda: n_done() > 0)
        n_before = Lesson.objects.count()
        file = backup_make(tmp_path / "copies")
        n_at_backup = n_done()
        assert wait_until(lambda: n_done() > n_at_backup)
    n_after = Lesson.objects.count()

    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    check = subprocess.run(
        ["sha256sum", "--check", digest_path(file)], cwd=file.parent, capture_output=True, check=False
    )
    assert check.returncode == 0, check.stderr
    assert {one.name for one in file.parent.iterdir()} == {file.name, digest_path(file).name, ".lock"}

    figures, output = restore_and_play(file, tmp_path / "var", code, "4")
    assert n_before <= figures["lessons"] < n_after  # type: ignore[operator]
    assert figures["plies"] == 1
    assert figures["matches"] <= Match.objects.count()  # type: ignore[operator]
    assert figures["sessions"] == [of_guest.session_key], "visitors stay known, accounts log in again"
    assert figures["tokens"] == 1
    assert output.count("boxes add up") == 2, output


@pytest.fixture
def file(tmp_path: Path) -> Path:
    house_machines()
    return backup_make(tmp_path)


@pytest.fixture
def empty() -> Iterator[None]:
    """Use an empty database in place of the test's own."""
    own = connection.settings_dict["NAME"]
    name = f"{own}_empty"  # parallel tests have databases of their own
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    connection.close()
    connection.settings_dict["NAME"] = name
    yield
    connection.close()
    connection.settings_dict["NAME"] = own
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def damage(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.seek(file.stat().st_size // 2)
        stream.write(b"beads")


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (damage, "is not what was written"),
        (lambda file: os.truncate(file, file.stat().st_size // 2), "is not what was written"),
        (lambda file: (file.write_text("beads"), digest_path(file).unlink()), "pg_restore failed: .*not appear to be"),
        (lambda file: (os.truncate(file, 100), digest_path(file).unlink()), "pg_restore failed"),
        (lambda file: digest_path(file).write_bytes(b"\xff\x00"), "is not what was written"),
        (Path.unlink, "cannot be read|could not open"),
    ],
)
def test_an_incomplete_file_is_refused(file: Path, empty: None, harm: Callable[[Path], object], sentence: str) -> None:
    harm(file)
    with pytest.raises(BackupError, match=sentence):
        backup_restore(file)
    assert backups._table_count() == 0


def test_half_a_file_without_its_checksum_leaves_nothing_behind(file: Path, empty: None) -> None:
    digest_path(file).unlink()
    os.truncate(file, file.stat().st_size - 2000)
    with pytest.raises(BackupError, match="pg_restore failed"):
        backup_restore(file)
    assert backups._table_count() == 0


@pytest.mark.parametrize(("broken", "is_revoked"), [("call_command", True), ("accounts_log_out", False)])
def test_failing_restore_logs_out_and_names_the_next_step(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, broken: str, is_revoked: bool
) -> None:
    account = user()
    tokens.token_make(user=account, name="a program", scopes=["read"], lifetime=None)
    session = SessionStore()
    session[SESSION_KEY] = str(account.pk)
    session.save()
    file = backup_make(tmp_path)
    request.getfixturevalue("empty")

    def breaks(*args: object, **options: object) -> None:
        raise RuntimeError("it broke")

    monkeypatch.setattr(restore, broken, breaks)
    with pytest.raises(
        CommandError, match=r"it broke.* Do not start the site: empty the database, and restore the file"
    ):
        call_command("restore", str(file), revoke_tokens=True)
    assert ApiToken.objects.filter(revoked_at=None).exists() is not is_revoked
    assert Session.objects.exists() is not is_revoked


def test_log_out_ends_more_sessions_than_sql_parameters() -> None:
    visitor = SessionStore()
    visitor["guest"] = "1"
    visitor.save()
    later = datetime.now(UTC) + timedelta(days=1)
    Session.objects.bulk_create(
        Session(session_key=f"{number:032}", session_data="unreadable", expire_date=later) for number in range(66_000)
    )
    assert accounts_log_out() == 66_000
    assert list(Session.objects.values_list("pk", flat=True)) == [visitor.session_key]


def test_tables_of_extensions_do_not_count_as_data(empty: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION pg_stat_statements")
        assert backups._table_count() == 0
        cursor.execute("CREATE VIEW of_somebody AS SELECT 1")
    assert backups._table_count() == 1


def test_restore_refuses_a_site_with_data(file: Path) -> None:
    with pytest.raises(BackupError, match="not empty"):
        backup_restore(file)
    assert Machine.objects.count() == 2


def test_data_of_a_newer_release_are_refused(tmp_path: Path) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("games", "9999_from_tomorrow")
    try:
        file = backup_make(tmp_path)
        with pytest.raises(CommandError, match=r"newer release, with the migrations games\.9999_from_tomorrow"):
            call_command("set_up")
    finally:
        recorder.record_unapplied("games", "9999_from_tomorrow")
    with pytest.raises(BackupError, match=r"newer release, with the migrations games\.9999_from_tomorrow"):
        backup_restore(file)


def test_a_server_older_than_the_file_is_refused(file: Path, empty: None, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = replace(backups.read_contents(file), major=99)
    monkeypatch.setattr(backups, "read_contents", lambda file: newer)
    with pytest.raises(BackupError, match="made from PostgreSQL 99"):
        backup_restore(file)


def test_an_unreachable_database_gives_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    with pytest.raises(BackupError, match="does not let us in"):
        backup_make(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_existing_backups(tmp_path: Path, cannot_try: CannotTry) -> None:
    house_machines()
    old = tmp_path / "beadbox-20200101T000000Z.dump"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", tmp_path], check=False, capture_output=True
    )
    if mounted.returncode:
        cannot_try("a back-up on a full disk")
        return
    try:
        old.write_text("of yesterday")
        with pytest.raises(BackupError, match=r"could take .* are free"):
            backup_daily(tmp_path, max_files=1)
        assert {one.name for one in tmp_path.iterdir()} == {old.name, ".lock"}
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_daily_backups_are_made_and_seven_are_kept(tmp_path: Path) -> None:
    for days in range(1, 10):
        name = (datetime.now(UTC) - timedelta(days=days)).strftime(backups.FILE_NAME_FORMAT)
        (tmp_path / name).touch()
        digest_path(tmp_path / name).touch()
    for others in ("beadbox-before-the-moveZ.dump", "beadbox-22330101T000000Z.dump"):
        (tmp_path / others).touch()
    old = sorted(tmp_path.glob(backups.FILE_NAME_GLOB))[:-1]
    (tmp_path / ".beadbox-of-one-that-was-killed.dump.part").touch()
    file = backup_daily(tmp_path, max_files=7)
    assert file is not None
    assert sorted(tmp_path.glob(backups.FILE_NAME_GLOB))[:-1] == [*old[-6:], file], (
        "a file with a date in the future is ignored"
    )
    assert len(list(tmp_path.iterdir())) == 7 + 7 + 2 + 1
    assert backup_daily(tmp_path, max_files=7) is None


def test_second_concurrent_backup_is_refused(tmp_path: Path) -> None:
    with backups._lock_folder(tmp_path), pytest.raises(BackupError, match="Another back-up"):
        backup_make(tmp_path)
