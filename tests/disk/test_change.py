"""Files and directories that appear together, or not at all."""

from __future__ import annotations

import os
import stat
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from shoal.disk import change as changes
from shoal.disk import moving
from shoal.disk.change import changing, write_file
from shoal.disk.fingerprints import fingerprint
from shoal.disk.journal import Journal, Move, write_pointer
from shoal.disk.locks import InUseError, locked
from shoal.disk.recovery import settle
from shoal.errors import Problem, ShoalWarning, SourceError
from support.failing_moves import dies_at, failing_moves


def anything() -> None:
    """Whatever is there may be replaced."""


def free(target: Path):
    def look() -> None:
        if target.exists():
            raise SourceError(Problem(str(target), "exists already"))

    return look


def write(place: Path, text: str, look=anything) -> None:
    """A directory, a file beside it and a state elsewhere."""
    with changing(place / "out", place / "elsewhere" / "state") as change:
        (change.directory(place / "out", look) / "table").write_text(text)
        change.file(place / "out.receipt", text.encode())
        change.file(place / "elsewhere" / "state", text.encode())


def texts(place: Path) -> dict[str, str]:
    return {str(path.relative_to(place)): path.read_text() for path in sorted(place.rglob("*")) if path.is_file()}


def all_of(text: str) -> dict[str, str]:
    return dict.fromkeys(["elsewhere/state", "out.receipt", "out/table"], text)


@pytest.fixture(params=["exchange", "no exchange"])
def place(request, tmp_path, monkeypatch):
    """With what Linux knows, and without: a file system may know no exchange."""
    if request.param == "no exchange":
        monkeypatch.setattr(moving, "_call", lambda: None)
    return tmp_path


def test_all_appears_together_and_nothing_else_stays(place):
    write(place, "one")
    assert texts(place) == all_of("one")
    write(place, "two")
    assert texts(place) == all_of("two")
    assert stat.S_IMODE((place / "out.receipt").stat().st_mode) == 0o600


def test_what_fails_in_the_block_leaves_no_trace(place):
    def fail() -> None:
        with changing(place / "new" / "deep" / "out") as change:
            change.directory(place / "new" / "deep" / "out", anything)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not list(place.iterdir())


@pytest.mark.parametrize("last", ["out", "out.receipt", "state"])
@pytest.mark.parametrize("before", [None, "one"])
def test_when_one_cannot_be_moved_none_is(place, monkeypatch, last, before):
    if before:
        write(place, before)
    failing_moves(monkeypatch, last, OSError(28, "No space left on device"))
    if last == "out":  # directories are moved by their own means
        monkeypatch.setattr(moving, "_move_directory", _refuse)
        monkeypatch.setattr(changes._Part, "_move_aside", _refuse)
    kept = "is there still" if before else "nothing was changed"
    with pytest.raises(SourceError, match=rf"cannot be written \(No space left on device\); .*{kept}; make room"):
        write(place, "two")
    assert texts(place) == (all_of("one") if before else {})


def _refuse(*_):
    raise OSError(28, "No space left on device")


def test_what_appears_meanwhile_is_never_replaced(place):
    def work() -> None:
        with changing(place / "out") as change:
            change.directory(place / "out", free(place / "out"))
            (place / "out").mkdir()
            (place / "out" / "mine").write_text("mine")

    with pytest.raises(SourceError, match="exists already"):
        work()
    assert texts(place) == {"out/mine": "mine"}


@pytest.mark.parametrize("name", ["out", "out.receipt"])
def test_what_appears_after_the_last_look_is_never_replaced(place, name):
    """A look that misses what comes directly after it: the move itself replaces nothing."""

    def appears() -> None:
        if (place / "looked").exists() and not (place / name).exists():
            (place / name).write_text("mine")
        (place / "looked").touch()

    def work() -> None:
        with changing(place / "out") as change:
            (change.directory(place / "out", anything) / "table").write_text("one")
            change.file(place / "out.receipt", b"one", look=appears)
            change.parts[0].look = appears if name == "out" else anything

    with pytest.raises(SourceError, match=f"{name}: something was put there meanwhile, so nothing was written"):
        work()
    assert texts(place) == {"looked": "", name: "mine"}


def test_an_empty_directory_is_free(place):
    (place / "out").mkdir()
    write(place, "one")
    assert texts(place) == all_of("one")


def test_the_working_directory_is_not_replaced(place, monkeypatch):
    (place / "out").mkdir()
    monkeypatch.chdir(place / "out")
    with pytest.raises(SourceError, match="is the working directory"):
        write(place, "one")


OTHER = {
    "directory": lambda place: (place.mkdir(), (place / "mine").write_text("mine")),
    "link": lambda place: place.symlink_to("nowhere"),
    "pipe": os.mkfifo,
}


@pytest.mark.parametrize("kind", OTHER)
def test_what_is_of_another_kind_is_never_replaced(place, kind):
    """Whatever a look allows: a file takes the place of a file, a directory that of a directory."""
    OTHER[kind](place / "out")
    before = (place / "out").lstat()
    said = "leads nowhere" if kind == "link" else "is no file"
    with pytest.raises(SourceError, match=f"{said}, so it is not replaced"):
        write_file(place / "out", b"one", "it")
    if kind != "directory":
        said = said.replace("file", "directory")
        with pytest.raises(SourceError, match=f"{said}, so it is not replaced"):
            write(place, "one")
    assert os.path.samestat((place / "out").lstat(), before)
    assert not [one for one in place.rglob("*") if ".shoal-" in one.name]


def test_a_pipe_in_what_is_replaced_holds_nobody_up(place):
    write(place, "one")
    os.mkfifo(place / "out" / "pipe")
    write(place, "two")
    assert texts(place) == all_of("two")


def test_one_place_cannot_be_two_things(place):
    def work() -> None:
        with changing(place / "out", place / "out") as change:
            change.directory(place / "out", anything)
            change.file(place / "out", b"state")

    with pytest.raises(SourceError, match="is to be two things at once"):
        work()
    assert not list(place.iterdir())


def test_one_writes_and_the_others_wait_or_are_refused(tmp_path):
    """Eight at a time: one makes it, the others find it there."""

    def work(number: int) -> str:
        try:
            write_file(tmp_path / "out", str(number).encode(), "it", look=free(tmp_path / "out"))
        except SourceError as error:
            return str(error)
        return "written"

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(work, range(8)))
    assert sorted("exists already" in one for one in said) == [False] + [True] * 7
    assert texts(tmp_path) == {"out": str(said.index("written"))}
    with locked([tmp_path / "out"]), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_lock_at_once, tmp_path / "out")
        with pytest.raises(InUseError, match="is being written by another process"):
            waiting.result()


def _lock_at_once(target: Path) -> None:
    with locked([target], wait=0):
        pass


def test_a_lock_of_another_user_is_named(tmp_path, monkeypatch):
    (tmp_path / ".out.shoal-lock").touch()

    def refuse(*_, **__) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with pytest.raises(InUseError, match=r"out: is locked by another user, with .*\.out\.shoal-lock; ask whose it is"):
        write_file(tmp_path / "out", b"one", "it")
    assert texts(tmp_path) == {".out.shoal-lock": ""}


def test_a_place_without_files_is_nobody_elses(tmp_path, monkeypatch):
    """As /proc: where no file can be made, none can be locked."""

    def refuse(*_, **__) -> None:
        raise Timeout("")

    def no_files(*_, **__) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    monkeypatch.setattr("shoal.disk.locks.os.open", no_files)
    with pytest.raises(
        SourceError, match=r"out: cannot be written \(No such file or directory\); nothing was"
    ) as caught:
        _lock_at_once(tmp_path / "out")
    assert not isinstance(caught.value, InUseError)


def test_a_lock_that_was_just_given_back_is_asked_for_again(tmp_path, monkeypatch):
    acquire, times = FileLock.acquire, []

    def late(self, *arguments, **given):
        times.append(self)
        if len(times) == 1:
            raise Timeout("")
        return acquire(self, *arguments, **given)

    monkeypatch.setattr("filelock.FileLock.acquire", late)
    with locked([tmp_path / "out"]):
        assert len(times) == 2
    assert texts(tmp_path) == {}


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a system without /proc")
def test_nothing_is_written_into_proc():
    with pytest.raises(SourceError, match=r"/proc/x: (it )?cannot be written \(No such file or directory\)"):
        write_file(Path("/proc/x"), b"", "it")


def test_places_that_cannot_be_written_are_named_with_what_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match=r"file.out: it cannot be written \(Not a directory\); nothing was changed"):
        write_file(tmp_path / "file" / "out", b"", "it")
    write_file(tmp_path / "out", b"one", "it")
    for number in (13, 30, 19, 5):
        monkeypatch.setattr(os, "fsync", _failing(number))
        with pytest.raises(SourceError, match=rf"\({os.strerror(number)}\); what was in .*out is there still"):
            write_file(tmp_path / "out", b"two", "it")
    assert texts(tmp_path) == {"file": "", "out": "one"}


def _failing(number: int):
    def fail(_descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    return fail


# -- after a crash -----------------------------------------------------------------------------------------------------


@pytest.fixture
def crash_at(place, monkeypatch):
    """Let a process die in the midst of the moves: what is on the disk then stays as it is."""

    def at(number: int) -> None:
        with dies_at(monkeypatch, number):
            write(place, "two")

    return at


@pytest.mark.parametrize("reader", ["out", "elsewhere/state"])
@pytest.mark.parametrize("number", range(3))
def test_whoever_reads_next_finishes_what_was_begun(place, crash_at, number, reader):
    write(place, "one")
    crash_at(number)
    with pytest.warns(
        ShoalWarning, match="a run that was cut short had begun to write here; what it began was finished"
    ):
        settle(place / reader)
    assert texts(place) == all_of("two")
    assert not list(place.rglob(".*"))


@pytest.mark.parametrize("number", range(3))
def test_whoever_writes_next_finishes_it_first(place, crash_at, number):
    write(place, "one")
    crash_at(number)
    with pytest.warns(ShoalWarning, match="was finished"):
        write(place, "three")
    assert texts(place) == all_of("three")


def test_what_is_in_the_way_of_the_rest_turns_all_of_it_back(place, crash_at):
    write(place, "one")
    crash_at(2)
    (place / "elsewhere" / "state").write_text("somebody else")
    with pytest.warns(ShoalWarning, match="what it began was undone"):
        settle(place / "out")
    assert texts(place) == {**all_of("one"), "elsewhere/state": "somebody else"}


def test_what_can_be_neither_finished_nor_undone_is_said_and_kept(place, crash_at):
    write(place, "one")
    crash_at(2)
    (place / "elsewhere" / "state").write_text("somebody else")
    (place / "out.receipt").write_text("changed")
    with pytest.raises(SourceError, match=r"wrote only a part, and .*out.receipt was changed since; look at"):
        write(place, "three")
    with pytest.warns(ShoalWarning, match="wrote only a part"):
        settle(place / "out")
    assert (place / "out.receipt").read_text() == "changed"


@pytest.mark.parametrize("number", range(3))
def test_a_folder_that_was_moved_since_is_put_in_order_where_it_is(tmp_path, place, crash_at, number):
    (place / "folder").mkdir()
    write(place, "one")
    crash_at(number)
    moved = tmp_path / "folder" / "moved"
    moved.mkdir()
    for one in [one for one in place.iterdir() if one.name != "folder"]:
        one.rename(moved / one.name)
    with pytest.warns(ShoalWarning, match="was finished"):
        settle(moved / "out")
    assert texts(moved) == all_of("two")
    assert not list(place.rglob(".*"))


@pytest.mark.parametrize("reader", ["out", "away/state"])
def test_while_a_part_is_away_nothing_is_touched(place, crash_at, reader):
    write(place, "one")
    crash_at(1)
    (place / "elsewhere").rename(place / "away")
    before = texts(place)
    with pytest.warns(ShoalWarning, match=r"is also in .*, which is not there any more; bring that back"):
        settle(place / reader)
    assert texts(place) == before
    (place / "away").rename(place / "elsewhere")
    with pytest.warns(ShoalWarning, match="was finished"):
        settle(place / "out")
    assert texts(place) == all_of("two")


@pytest.mark.parametrize("content", [b"", b'{"moves": [', b"[]", b"{}", b'{"moves": [{"target": 3}], "locks": []}'])
def test_a_journal_that_cannot_be_read_is_said_and_kept(place, crash_at, content):
    write(place, "one")
    crash_at(1)
    (journal,) = place.glob(".out.shoal-*/journal.json")
    journal.write_bytes(content)
    before = texts(place)
    with pytest.raises(SourceError, match="this journal, which is damaged; look at what is in"):
        write(place, "three")
    with pytest.warns(ShoalWarning, match="damaged"):
        settle(place / "elsewhere" / "state")
    assert texts(place) == before


def test_what_waits_no_more_is_not_said_to_be_finished(place, crash_at):
    write(place, "one")
    crash_at(1)
    (waiting,) = place.glob(".out.shoal-*/1")
    waiting.unlink()
    with pytest.warns(ShoalWarning, match=r"wrote only a part, and .*out.receipt was changed since"):
        settle(place / "out")


def _hostile(place: Path, victim: Path) -> None:
    """What somebody might leave in a folder that many can write: a change that writes, and removes, elsewhere."""
    staging = place / ".out.shoal-0123abcd"
    staging.mkdir()
    (staging / "0").write_text("theirs")
    moves = [
        Move(str(victim / "key"), str(staging / "0"), None, fingerprint(staging / "0")),
        Move(str(victim / "other"), str(victim / "0"), None, "0" * 64),
    ]
    Journal(tuple(moves), (str(place / "out"),)).write(staging)


def test_a_journal_of_somebody_else_is_not_followed(place, monkeypatch):
    (place / "mine").mkdir()
    (place / "mine" / "data").write_text("data")
    _hostile(place, place / "mine")
    before = texts(place)
    uid = os.geteuid() + 1
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: uid)
        with pytest.warns(ShoalWarning, match="a run of another user was cut short here"):
            settle(place / "out")
    assert texts(place) == before
    with pytest.warns(
        ShoalWarning, match="is also in .*mine"
    ):  # nor is one of ours that waits where nothing of ours is
        settle(place / "out")
    assert texts(place) == before


def test_pointers_in_a_circle_lead_to_an_end(place):
    ways = [place / ".out.shoal-0123abcd", place / "elsewhere" / ".state.shoal-0123abcd"]
    (place / "elsewhere").mkdir()
    for one, other, target in zip(ways, ways[::-1], [place / "elsewhere" / "state", place / "out"], strict=True):
        one.mkdir()
        write_pointer(one, other, target)
    write(place, "one")
    assert texts(place) == all_of("one")


def test_what_was_never_committed_is_removed(place):
    (place / ".out.shoal-0123abcd").mkdir()
    (place / ".out.shoal-0123abcd" / "0").write_text("half")
    (place / ".out.shoal-notours").write_text("mine")
    with pytest.warns(ShoalWarning, match="what a run that was cut short left here was removed"):
        write(place, "one")
    assert texts(place) == {**all_of("one"), ".out.shoal-notours": "mine"}


def test_what_a_living_process_writes_is_left_alone(place):
    with changing(place / "out") as change:
        folder = change.directory(place / "out", anything)
        with ThreadPoolExecutor(1) as pool, warnings.catch_warnings():
            warnings.simplefilter("error")
            pool.submit(settle, place / "out").result()
        assert folder.is_dir()
    assert (place / "out").is_dir()


def test_a_journal_has_the_fingerprints_of_old_and_new(tmp_path, monkeypatch):
    write(tmp_path, "one")
    seen = []
    monkeypatch.setattr(Journal, "write", lambda journal, _staging: seen.append(journal))
    write(tmp_path, "two")
    (journal,) = seen
    assert [Path(one.target).name for one in journal.moves] == ["out", "out.receipt", "state"]
    assert all(one.old and one.old != one.new for one in journal.moves)
    assert [Path(one).name for one in journal.locks] == ["out", "state"]


def test_locks_are_taken_in_one_order(tmp_path):
    """Two who want the same two never wait for each other."""
    (tmp_path / "elsewhere").mkdir()
    both = [tmp_path / "a", tmp_path / "b"]
    ready = threading.Barrier(2)

    def work(order) -> None:
        ready.wait()
        for _ in range(20):
            with locked(order, wait=20):
                pass

    with ThreadPoolExecutor(2) as pool:
        for one in [pool.submit(work, both), pool.submit(work, both[::-1])]:
            one.result()
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]
