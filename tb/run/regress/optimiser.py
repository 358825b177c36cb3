"""Builds the optimised model of a device beside a run, so that workers change over to it between scenarios."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

from tb.run.dut import Dut
from tb.run.errors import LaunchError
from tb.run.optimise import optimised
from tb.run.process import KILL_GRACE_SECONDS, InterruptedRunError

PAYS_FROM_SECONDS = 1200.0
"""Simulation to come from which it pays: for the public nv_small the build costs about 500 seconds of processor, and
then saves about half of the time."""


class Optimiser:
    """Looks at what is played, and starts the build once what is left is long enough.

    Attributes:
        refusal: Why the model could not be built, once that is known; the run goes on with the quick one.
    """

    def __init__(self, dut: Dut | None, root: Path, pays_from_seconds: float = PAYS_FROM_SECONDS) -> None:
        """Begin without a build.

        Args:
            dut: The device, or None to build nothing.
            root: Folder that holds all builds.
            pays_from_seconds: Simulation to come from which the build is started.
        """
        self.refusal: str | None = None
        self._dut, self._root, self._pays_from_seconds = dut, root, pays_from_seconds
        self._ended, self._seconds = 0, 0.0
        self._over = Event()
        self._thread: Thread | None = None

    def close(self) -> None:
        """End a build that is not ready: nobody plays on it any more."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(KILL_GRACE_SECONDS)

    @property
    def started(self) -> bool:
        """Whether the build was begun."""
        return self._thread is not None

    def ended(self, seconds: float, left: int) -> None:
        """Count a test that ended, and start the build when what is left is worth it.

        Args:
            seconds: How long its simulation took.
            left: Tests that are still to be played.
        """
        self._ended += 1
        self._seconds += seconds
        if self._dut is None or self.started or self._seconds / self._ended * left < self._pays_from_seconds:
            return
        self._thread = Thread(target=self._build, args=(self._dut,), name="optimised build", daemon=True)
        self._thread.start()

    def say(self, text: str) -> None:
        """Take a line of the build, which nobody wants to read between those of tests."""

    def progress(self, text: str) -> None:
        """Take how far the build is, and end it when the run is over.

        Raises:
            RunIsOverError: then.
        """
        if self._over.is_set():
            raise RunIsOverError(text)

    def _build(self, dut: Dut) -> None:
        try:
            optimised(dut, self._root, self)
        except LaunchError as error:
            self.refusal = str(error)
        except (RunIsOverError, InterruptedRunError):
            pass


class RunIsOverError(Exception):
    """A build that nobody waits for any more."""
