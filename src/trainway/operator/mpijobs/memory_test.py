from trainway.operator.mpijobs.memory import Applied, Memory


def test_a_new_job_of_an_old_name_starts_afresh() -> None:
    memory = Memory()
    memory.of("ns/pi", "1").applied["JobSet"] = Applied("abc", "3")
    assert memory.of("ns/pi", "1").is_applied("JobSet", "abc")
    assert not memory.of("ns/pi", "1").is_applied("JobSet", "def")
    assert not memory.of("ns/pi", "2").is_applied("JobSet", "abc")


def test_what_somebody_else_wrote_is_no_longer_ours() -> None:
    job = Memory().of("ns/pi", "1")
    job.applied = {"JobSet": Applied("abc", "3"), "ConfigMap": Applied("def", "8")}
    job.forget_other("ConfigMap", "8")
    job.forget_other("Secret", "9")
    assert job.is_applied("ConfigMap", "def")
    job.forget_other("ConfigMap", "9")
    job.forget_other("JobSet", "")
    assert job.applied == {}


def test_a_job_that_is_gone_is_forgotten() -> None:
    memory = Memory()
    job = memory.of("ns/pi", "1")
    assert memory.known("ns/pi") is job
    assert memory.forget("ns/pi") is job
    assert memory.known("ns/pi") is memory.forget("ns/pi") is None
