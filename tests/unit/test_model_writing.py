"""A model file is written whole or not at all, whatever the disk says; links, devices and pipes stay what they are."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from disk_faults import count_refusals
from saved_models import MODELS, SIGNS, X

from pegasos import PegasosClassifier, load_model
from pegasos.io import atomic

CALLS = ("open", "write", "fsync", "replace", "chmod")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", CALLS)
def test_whatever_the_disk_refuses_the_old_file_stays_whole(
    call: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m"
    old, new = PegasosClassifier(lam=0.1).fit(X, SIGNS), PegasosClassifier(lam=0.2).fit(X, SIGNS)
    old.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(atomic, "_PIECE", 100)

    def left() -> None:
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["m"]

    failures = count_refusals(call, error, lambda: new.save(path), left, monkeypatch)
    # The folder is opened and synced last, when the new file has its name: that may fail without harm.
    assert failures >= {"write": 15}.get(call, 1)
    assert load_model(path).lam == 0.2


def test_a_file_system_that_is_full_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    """No injection: a process that may write 1,000 bytes to a file."""
    code = """
import resource, signal, sys
import numpy as np
from pegasos import PegasosClassifier
model = PegasosClassifier(lam=0.1).fit(np.eye(400), [0, 1] * 200)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    model.save(sys.argv[1])
except OSError as error:
    print(error.strerror)
"""
    (tmp_path / "m").write_bytes(b"before")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m")], capture_output=True, text=True, env=env, check=False
    )
    assert done.stdout.strip() == "File too large", done.stderr
    assert os.listdir(tmp_path) == ["m"]
    assert (tmp_path / "m").read_bytes() == b"before"


def test_links_and_permissions_stay_and_devices_are_written_to(tmp_path: Path) -> None:
    model = MODELS["two classes"][0]()
    (tmp_path / "real").write_bytes(b"")
    os.chmod(tmp_path / "real", 0o640)
    (tmp_path / "link").symlink_to("real")
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640
    assert load_model(tmp_path / "real").lam == 0.1
    device = Path("/dev/null")
    if os.geteuid() == 0:  # who could replace the real one gets one of his own
        device = tmp_path / "null"
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    model.save(device)
    assert stat.S_ISCHR(os.stat(device).st_mode)
    with pytest.raises(OSError, match="No space left"):
        model.save("/dev/full")


def test_a_model_goes_through_a_pipe(tmp_path: Path) -> None:
    from threading import Thread

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = Thread(target=lambda: MODELS["two classes"][0]().save(fifo))
    writer.start()
    assert load_model(fifo).lam == 0.1
    writer.join()
