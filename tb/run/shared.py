"""A simulator process that many scenarios share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tb.run.compile.spec import Built
from tb.run.session import Session
from tb.run.simulate import SimResult
from tb.stimulus.exchange import Request


class SharedProcess:
    """Plays scenario after scenario in one simulator process, with a reset before each.

    Unless one passes, the next gets a new process: whatever went wrong stays where it was.

    Attributes:
        built: The model that it runs.
        plusargs: Arguments of the simulator.
        work_dir: Where it runs, and leaves at its end what it has counted of the RTL's code.
        scenarios: How many the process that is alive has been given.
        last: ``TEST.SEED`` of the last one of them, None before the first.
    """

    def __init__(
        self, built: Built, test: str, environment: Mapping[str, str], work_dir: Path, plusargs: tuple[str, ...] = ()
    ) -> None:
        """Remember what to play on; the process starts with the first scenario.

        Args:
            built: A compiled model with the native back end.
            test: ``MODULE.FUNCTION`` of the test that answers requests.
            environment: Variables for the simulator.
            work_dir: Folder for what the process says between scenarios.
            plusargs: Arguments for the simulator; only jobs with the same ones can be played in it.
        """
        self.built, self.plusargs, self.work_dir, self.scenarios = built, plusargs, work_dir, 0
        self.last: str | None = None
        self._test, self._environment = test, environment
        self._session: Session | None = None

    @staticmethod
    def fits(built: Built) -> bool:
        """Return whether scenarios can share a process of this model.

        Coroutines live as long as the process, and waves are written at its end.
        """
        return built.spec.native and not built.spec.waves

    def play(self, request: Request, log_path: Path, timeout_seconds: float) -> SimResult:
        """Play a saved scenario.

        Args:
            request: What to play, and where its answer and its log go.
            log_path: That log.
            timeout_seconds: Wall-clock limit, after which the process is killed.
        """
        log_path.unlink(missing_ok=True)
        if self._session is None:
            module, _, function = self._test.rpartition(".")
            self._session = Session(
                self.built,
                test_module=module,
                testcase=function,
                env=self._environment,
                work_dir=self.work_dir,
                plusargs=self.plusargs,
            )
        self.scenarios += 1
        self.last = request.test
        run = self._session.ask(request.encode(), log_path, timeout_seconds)
        if not run.passed:
            self.close()
        return run

    def close(self) -> None:
        """End the process."""
        session, self._session, self.scenarios, self.last = self._session, None, 0, None
        if session is not None:
            session.close()
