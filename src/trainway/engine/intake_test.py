"""What a job gets of its server's environment."""

from trainway.engine.intake import own_environment


def test_programs_beside_the_servers_python_are_found_last() -> None:
    found = own_environment({"PATH": "/bin:/usr/bin", "HOME": "/h", "SECRET": "x"}, "/v/bin/python")
    assert found == {"PATH": "/bin:/usr/bin:/v/bin", "HOME": "/h"}


def test_a_folder_that_is_there_stays_where_it_is() -> None:
    assert own_environment({"PATH": "/v/bin:/bin"}, "/v/bin/python")["PATH"] == "/v/bin:/bin"
