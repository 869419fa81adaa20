import pytest

from trainway.backends.hand_over import check_goes_on, handing_over
from trainway.backends.testing import FakeBackend
from trainway.errors import ConflictError


def test_a_place_that_keeps_what_jobs_write_says_so_and_what_to_do() -> None:
    place = FakeBackend()
    with pytest.raises(ConflictError, match="cannot leave local: what it has written") as leaving:
        handing_over(place)
    with pytest.raises(ConflictError, match="local cannot go on with a job") as coming:
        check_goes_on(place)
    hints = [str(found.value.hint) for found in (leaving, coming)]
    assert all("this machine, SSH hosts, Slurm, Kubernetes, clouds and" in hint for hint in hints)
