"""What a kind of job is called in a sentence."""

from trainway.training.kinds import MPIJOB, TRAINJOB


def test_the_article_suits_the_name() -> None:
    assert (MPIJOB.one, TRAINJOB.one) == ("an MPIJob", "a TrainJob")
