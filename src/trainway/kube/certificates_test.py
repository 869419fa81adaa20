import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from trainway.kube.certificates import (
    AUTHORITY_LIFETIME,
    SERVING_LIFETIME,
    SERVING_RENEWAL,
    Certificates,
    UnusableCertificateError,
    renewed,
    trust_patch,
)

NAMES = ("operator.kubeflow-system.svc", "127.0.0.1")
START = datetime(2026, 11, 15, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def new(names: tuple[str, ...] = NAMES, now: datetime = START) -> Certificates:
    certificates, reason = renewed(None, names, now)
    assert reason == "there are none"
    return certificates


def is_trusted(serving: Certificates, authorities: str, when: datetime) -> bool:
    """Whether a client that trusts the authorities accepts the certificate at a time."""
    store = Store(x509.load_pem_x509_certificates(authorities.encode()))
    verifier = PolicyBuilder().store(store).time(when).build_server_verifier(x509.DNSName(NAMES[0]))
    certificate = x509.load_pem_x509_certificate(serving.certificate.encode())
    try:
        verifier.verify(certificate, [])
    except VerificationError:
        return False
    return True


def test_a_new_certificate_is_trusted_by_who_trusts_the_authority() -> None:
    certificates = new()
    assert is_trusted(certificates, certificates.authorities, START)
    assert not is_trusted(certificates, new().authorities, START)
    authority = x509.load_pem_x509_certificate(certificates.authorities.encode())
    assert authority.subject.rfc4514_string() == "O=kubeflow-trainer,CN=kubeflow-trainer-ca"
    serving = x509.load_pem_x509_certificate(certificates.certificate.encode())
    (name,) = serving.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    assert name.value == NAMES[0]


def test_what_is_good_stays() -> None:
    certificates = new()
    for now in (START, START + SERVING_LIFETIME - SERVING_RENEWAL - DAY):
        assert renewed(certificates, NAMES, now) == (certificates, "")
    assert renewed(certificates, NAMES[:1], START) == (certificates, "")


def test_a_serving_certificate_is_renewed_well_before_its_end() -> None:
    certificates = new()
    now = START + SERVING_LIFETIME - SERVING_RENEWAL
    fresh, reason = renewed(certificates, NAMES, now)
    assert reason == "the certificate expires soon"
    assert fresh.authorities == certificates.authorities
    assert is_trusted(fresh, certificates.authorities, now + SERVING_LIFETIME - DAY)
    assert is_trusted(certificates, fresh.authorities, now)


def test_another_name_needs_another_certificate() -> None:
    fresh, reason = renewed(new(), (*NAMES, "elsewhere.svc"), START)
    assert reason == "the certificate is for other names"
    assert renewed(fresh, NAMES, START) == (fresh, "")


def test_over_a_whole_rotation_nobody_meets_a_certificate_it_cannot_check() -> None:
    """A client that looks up the authorities once in 30 days trusts every certificate served."""
    certificates, trusted, now = new(), "", START
    changes = []
    for day in range(0, (AUTHORITY_LIFETIME * 2).days, 5):
        now = START + day * DAY
        if day % 30 == 0:
            trusted = certificates.authorities
        fresh, reason = renewed(certificates, NAMES, now)
        if reason:
            changes.append(reason)
        certificates = fresh
        if reason or day % 30 == 25:
            assert is_trusted(certificates, trusted, now), (day, changes)
    assert changes.count("the authority expires soon") == 2
    assert set(changes) == {"the authority expires soon", "the certificate expires soon"}
    assert len(x509.load_pem_x509_certificates(certificates.authorities.encode())) <= 2


def test_an_operator_that_was_off_for_years_starts_anew() -> None:
    certificates = new()
    now = START + AUTHORITY_LIFETIME + DAY
    fresh, reason = renewed(certificates, NAMES, now)
    assert reason == "the authority has expired"
    assert is_trusted(fresh, fresh.authorities, now)


def test_at_the_last_moment_both_are_renewed_at_once() -> None:
    now = START + AUTHORITY_LIFETIME - DAY * 2
    fresh, reason = renewed(new(), NAMES, now)
    assert reason == "the authority expires soon and the certificate expires soon"
    assert is_trusted(fresh, fresh.authorities, now)


def broken(which: str) -> Certificates:
    one, other = new(), new()
    return {
        "another key": replace(one, key=other.key),
        "another authority's key": replace(one, authority_key=other.authority_key),
        "no certificate": replace(one, certificate="nothing"),
        "no key": replace(one, key="nothing"),
        "another authority": replace(
            one, authorities=other.authorities, authority_key=other.authority_key
        ),
    }[which]


@pytest.mark.parametrize(
    "which",
    ["another key", "another authority's key", "no certificate", "no key", "another authority"],
)
def test_what_does_not_belong_together_is_replaced(which: str) -> None:
    fresh, reason = renewed(broken(which), NAMES, START)
    assert reason
    assert is_trusted(fresh, fresh.authorities, START)
    assert renewed(fresh, NAMES, START) == (fresh, "")


def test_a_secret_holds_all_four() -> None:
    certificates = new()
    data = certificates.secret_data()
    assert sorted(data) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    assert Certificates.from_secret({"data": data}) == certificates
    with pytest.raises(UnusableCertificateError, match=r"ca\.key is missing"):
        Certificates.from_secret({"data": {"ca.crt": data["ca.crt"]}})
    with pytest.raises(UnusableCertificateError, match="not a text in base64"):
        Certificates.from_secret({"data": data | {"tls.key": "%"}})


def test_the_patch_touches_only_webhooks_that_trust_another_authority() -> None:
    bundle = base64.b64encode(b"PEM").decode()
    configuration = {
        "webhooks": [
            {"name": "a", "clientConfig": {"caBundle": bundle, "url": "https://x"}},
            {"name": "b", "clientConfig": {"service": {"name": "s"}}},
        ]
    }
    assert trust_patch(configuration, "PEM") == [
        {"op": "test", "path": "/webhooks/1/name", "value": "b"},
        {"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": bundle},
    ]
    assert trust_patch({"metadata": {}}, "PEM") == []


def test_an_authority_of_upstream_with_rsa_keys_is_kept() -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubeflow-trainer-ca")])
    authority = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(START - DAY)
        .not_valid_after(START + AUTHORITY_LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    kept = replace(
        new(),
        authorities=authority.public_bytes(encoding).decode(),
        authority_key=key.private_bytes(
            encoding,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ).decode(),
    )
    fresh, reason = renewed(kept, NAMES, START)
    assert reason == "this authority did not issue the certificate"
    assert (fresh.authorities, fresh.authority_key) == (kept.authorities, kept.authority_key)
    assert renewed(fresh, NAMES, START) == (fresh, "")
