from trainway.api.export import export_of
from trainway.sdk.export import exporting


def test_the_job_says_where_its_output_goes() -> None:
    secret = {"kind": "Secret"}
    job = {"kind": "TrainJob", "metadata": {"name": "a", "annotations": {"x": "y"}}}

    marked, other = exporting([job, secret], "s3://b/run")

    assert export_of(marked) == "s3://b/run"
    assert marked["metadata"]["annotations"]["x"] == "y"
    assert other == secret
    assert exporting([job], None) == [job]
    assert export_of({"metadata": None}) == export_of(None) == ""
