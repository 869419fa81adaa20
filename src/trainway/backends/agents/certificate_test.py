import socket
import ssl
import threading
from datetime import UTC, datetime
from pathlib import Path

from trainway.backends.agents.certificate import new_status_keys


def test_a_client_that_trusts_the_certificate_reaches_the_loopback_address(tmp_path: Path) -> None:
    keys = new_status_keys("abc", datetime.now(UTC))
    (tmp_path / "crt").write_bytes(keys.certificate)
    (tmp_path / "key").write_bytes(keys.key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "crt", tmp_path / "key")
    client = ssl.create_default_context(cafile=tmp_path / "crt")
    client.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            accepted, _ = listener.accept()
            with server.wrap_socket(accepted, server_side=True) as connection:
                connection.sendall(b"hello")

        thread = threading.Thread(target=answer)
        thread.start()
        with (
            socket.create_connection(listener.getsockname()) as plain,
            client.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
        ):
            assert connection.recv(5) == b"hello"
        thread.join()


def test_no_two_jobs_have_the_same_keys() -> None:
    now = datetime.now(UTC)
    one, other = new_status_keys("a", now), new_status_keys("a", now)
    assert one.token != other.token
    assert one.key != other.key
