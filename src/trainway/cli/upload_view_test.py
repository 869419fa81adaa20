import io

from trainway.cli.upload_view import UploadView

MB = 1_000_000


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_is_drawn_again() -> None:
    terminal, now = Terminal(), 0.0
    view = UploadView(terminal, lambda: now)
    view.show(0, 300 * MB)
    view.show(10 * MB, 300 * MB)  # too soon
    now = 1.0
    view.show(150 * MB, 300 * MB)
    view.show(300 * MB, 300 * MB)
    assert terminal.getvalue() == (
        "\r0 of 300 MB of files sent to the server"
        "\r150 of 300 MB of files sent to the server"
        "\r300 of 300 MB of files sent to the server\n"
    )


def test_elsewhere_it_is_told_once() -> None:
    stream = io.StringIO()
    view = UploadView(stream)
    for sent in (0, 100 * MB, 300 * MB):
        view.show(sent, 300 * MB)
    assert stream.getvalue() == "sending 300 MB of files to the server\n"


def test_a_little_is_not_worth_a_word() -> None:
    terminal = Terminal()
    UploadView(terminal).show(0, 1 * MB)
    assert terminal.getvalue() == ""
