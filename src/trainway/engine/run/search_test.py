import subprocess
import sys


def test_the_models_of_all_kinds_are_loaded_when_there_is_a_search() -> None:
    program = "import trainway.server.app, sys; print('trainway.api.kinds' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
