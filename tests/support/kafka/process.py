"""A broker as a process of this machine."""

import os
import subprocess
from pathlib import Path

from tests.support.kafka.settings import Settings


class Process:
    """Runs a broker with `java`; its log, data and settings lie in one folder."""

    def __init__(self, settings: Settings, folder: Path, libs: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.libs = str(libs)
        self._server: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    def __str__(self) -> str:
        return f"a process of java with the jars in {os.path.relpath(self.libs)}"

    def start(self) -> None:
        """Start the broker without waiting for it; the first time its log folder is formatted."""
        config = str(self.folder)
        if not (data := self.folder / "data").exists():
            text = self.settings.properties(bind="127.0.0.1", config=config, data=str(data))
            (self.folder / "server.properties").write_text(text)
            self._run(self.settings.format_command(libs=self.libs, config=config)).wait(timeout=60)
        self._server = self._run(self.settings.server_command(libs=self.libs, config=config))
        # When pytest is killed no finaliser runs, but this pipe closes.
        self._guard = subprocess.Popen(
            ["sh", "-c", f"read _; kill -9 {self._server.pid}"], stdin=subprocess.PIPE, start_new_session=True
        )

    def stop(self, *, kill: bool = False) -> None:
        """Stop the broker, by SIGTERM or at once by SIGKILL, and wait until it is gone."""
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
            self._guard = None
        if self._server is not None:
            if not kill:
                self._server.terminate()
                try:
                    self._server.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    kill = True
            if kill:
                self._server.kill()
            self._server.wait()
            self._server = None

    def remove(self) -> None:
        """Stop for good; the folder is pytest's to clean up."""
        self.stop()

    def alive(self) -> bool:
        return self._server is not None and self._server.poll() is None

    def log(self) -> str:
        return (self.folder / "broker.log").read_text(errors="replace")

    def _run(self, command: list[str]) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C reaches pytest only, which stops the broker after the tests.
        with (self.folder / "broker.log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,
            )
