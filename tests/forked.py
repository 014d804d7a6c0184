"""Programs that run in processes of their own, forked from one that has already imported what takes long.

Such a process has its own arguments, folder, environment, streams and exit code.  What a test claims of imports, or of
how Python starts, wants a process that Python begins.  Run as a script, this is the process that the others are forked
from: each line of its input says what to run, and each line of its output is an exit code.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Self, TypeAlias

HERE = Path(__file__).parent
OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True"}
STREAMS = ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_WRONLY), (2, "stderr", os.O_WRONLY))
Done: TypeAlias = "subprocess.CompletedProcess[str]"
Python: TypeAlias = Callable[..., Done]
RunScript: TypeAlias = Callable[..., tuple[Any, str, list[str]]]


class Forks:
    """The process that others are forked from, begun when the first is run; ``loads`` says what it imports."""

    def __init__(self, loads: str) -> None:
        self._loads = loads
        self._process: subprocess.Popen[str] | None = None

    def python(
        self,
        *arguments: object,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        given: str = "",
        check: bool = False,
    ) -> Done:
        """Run ``python [-W error] -c CODE …``, ``-m MODULE …`` or ``SCRIPT …``; ``given`` is its standard input."""
        command = [str(argument) for argument in arguments]
        environ = dict(os.environ if env is None else env)
        with tempfile.TemporaryDirectory() as folder:
            files = {name: str(Path(folder) / name) for _, name, _ in STREAMS}
            Path(files["stdin"]).write_text(given, encoding="utf-8")
            code = self._asked({"command": command, "cwd": str(cwd or Path.cwd()), "environ": environ, **files})
            out, errors = (Path(files[name]).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        done = subprocess.CompletedProcess(command, code, out, errors)
        if check:
            done.check_returncode()
        return done

    def script(self, name: str, *, given: Any = None, **environ: str) -> tuple[Any, str, list[str]]:
        """Run a script of this folder; return its last line (as JSON), its errors, and the lines before the last."""
        done = self.python(
            "-W", "ignore", HERE / name, given=json.dumps(given), env={**os.environ, **OFFLINE, **environ}
        )
        assert done.returncode == 0, done.stderr
        *noise, last = done.stdout.splitlines()
        return json.loads(last), done.stderr, noise

    def _asked(self, said: Any) -> int:
        if self._process is None:
            command, pipe = [sys.executable, __file__, self._loads], subprocess.PIPE
            environ = {**os.environ, **OFFLINE}
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environ)
        source, answers = self._process.stdin, self._process.stdout
        assert source is not None
        assert answers is not None
        print(json.dumps(said), file=source, flush=True)
        return int(answers.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            with self._process:
                assert self._process.stdin is not None
                self._process.stdin.close()


def load(what: str) -> None:
    """Import what takes long, and whatever first uses would import; the engine has nothing to say when it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for module, name in (("elision", "completion"), ("elision.testing", "ModelServer"), ("elision.cli", "main")):
            getattr(import_module(module), name)
        import_module("elision.tokens").count_text("The vocabularies are read.")
        import_module("elision.plugins.builtin").elision_processors()
    if what == "litellm":
        with warnings.catch_warnings(), suppress(ImportError):
            warnings.simplefilter("ignore")
            import_module("litellm")
            import_module("litellm.proxy.openai_files_endpoints.common_utils")


def main(what: str) -> None:
    """Fork a process for each program that is asked for."""
    load(what)
    gc.freeze()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            begin(json.loads(line))
            return
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def begin(said: Any) -> None:
    """Run a program as Python would."""
    environ, command = said["environ"], said["command"]
    first = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    rest = [each for each in sys.path[1:] if each not in first]
    os.environ.clear()
    os.environ.update(environ)
    tempfile.tempdir = None
    os.chdir(said["cwd"])
    for number, name, flags in STREAMS:
        opened = os.open(said[name], flags | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (the program's, to its end)
    if command[0] == "-W":
        warnings.simplefilter(command[1])
        command = command[2:]
    sys.path[:] = ["", *filter(None, environ.get("PYTHONPATH", "").split(os.pathsep)), *rest]
    run(command)


def run(command: list[str]) -> None:
    """Run code, a module, or a script."""
    if command[0] == "-c":
        sys.argv = ["-c", *command[2:]]
        sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(command[1], "<string>", "exec"), vars(sys.modules["__main__"]))  # noqa: S102 (what a test wrote)
    elif command[0] == "-m":
        sys.path[0], sys.argv = os.getcwd(), command[1:]
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[0], sys.argv = str(Path(command[0]).parent), command
        runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
