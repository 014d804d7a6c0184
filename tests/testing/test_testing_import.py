"""The testing kit loads no test library before it needs one."""

from __future__ import annotations

import subprocess
import sys

import pytest


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_importing_the_kit_loads_neither_hypothesis_nor_pytest() -> None:
    done = python(
        "import sys, elision.testing as t; t.conversation().user('x'); print({'hypothesis', 'pytest'} & {*sys.modules})"
    )

    assert (done.stdout, done.stderr) == ("set()\n", "")


@pytest.mark.parametrize(
    "use",
    [
        "elision.testing.histories('openai')",
        "elision.testing.check_processor(elision.processor_types()['default'])",
    ],
)
def test_a_missing_hypothesis_is_said_with_the_way_to_get_it(use: str) -> None:
    done = python(f"import sys; sys.modules['hypothesis'] = None; import elision, elision.testing; {use}")

    assert done.stderr.strip().splitlines()[-1] == (
        "ImportError: elision.testing: hypothesis is not installed; "
        "it comes with the extra 'testing'; run pip install 'elision[testing]'"
    )
