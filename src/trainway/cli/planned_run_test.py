from trainway.cli.planned_run import lines, planned
from trainway.compiler.inputs import Input

JOB = Input({"kind": "JobSet", "metadata": {"generateName": "demo-"}}, "file")


def test_beside_a_script_a_run_is_told_in_words() -> None:
    trials = [{"lr": "1", "wd": "0"}, {"lr": "2", "wd": "0"}]
    assert lines(planned([JOB], {"parameters": trials, "parallel": 1})) == [
        "demo: 2 jobs, at most 1 at a time; the script is that of the first one",
        "demo-0: lr=1 wd=0",
        "demo-1: lr=2 wd=0",
    ]
    said = "demo: 2 jobs; the script is that of the first one"
    assert lines(planned([JOB], {"num_jobs": 2})) == [said]
