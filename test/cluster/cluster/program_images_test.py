import shutil

import pytest

from cluster.program_images import libraries, programs_layer
from cluster.unavailable import UnavailableError


def test_an_image_has_the_libraries_of_its_programs_and_no_other_shell_of_that_name() -> None:
    layer = programs_layer(["ls"])
    assert "bin/ls" not in layer.links
    assert str(layer.programs["usr/bin/ls"]) == shutil.which("ls")
    assert any("libc.so" in path for path in layer.programs)
    assert any("/ld-linux" in path for path in layer.programs)
    assert "bin/sh" in layer.links


def test_a_static_program_has_none() -> None:
    assert libraries(shutil.which("busybox") or "") == []


def test_what_is_not_installed_is_named() -> None:
    with pytest.raises(UnavailableError, match="there-is-none: not found"):
        programs_layer(["there-is-none"])
