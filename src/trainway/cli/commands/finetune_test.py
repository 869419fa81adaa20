"""What `trainway finetune` says to those who type what other programs want."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from trainway.cli.commands.finetune import command
from trainway.errors import UsageError


@dataclass(frozen=True)
class Case:
    """Words that somebody types, and the sentence that answers them."""

    words: str
    said: str

    def __str__(self) -> str:
        return self.words


@pytest.mark.parametrize(
    "case",
    [
        Case("a/b c/d --lr 1e-4", "--lr (it is a setting: write learning_rate=VALUE behind"),
        Case("a/b c/d --epochs 3", "--epochs (it is a setting: write epochs=VALUE behind"),
        Case("a/b c/d --lora-rank=8", "--lora-rank (it is a setting: write lora_rank=VALUE behind"),
        Case("a/b c/d --columns.prompt=q", "it is a setting: write columns.PART=NAME behind MODEL"),
        Case("--model a/b --dataset c/d", "--model (write MODEL and DATASET alone, in this order)"),
        Case("a/b c/d output=x", "output: it is no setting of this command (write --output URI)"),
        Case("a/b c/d model=x", "model: it is no setting of this command (write MODEL alone)"),
    ],
    ids=str,
)
def test_what_others_call_it_is_told(case: Case) -> None:
    with pytest.raises(UsageError) as raised:
        CliRunner().invoke(command, case.words.split(), catch_exceptions=False)
    assert case.said in raised.value.sentence


def test_what_is_like_nothing_is_clicks_own_error() -> None:
    done = CliRunner().invoke(command, ["a/b", "c/d", "--zzz"])
    assert "No such option" in done.output


def test_all_packages_that_follow_are_taken_up_to_a_setting(tmp_path: Path) -> None:
    words = [str(tmp_path), str(tmp_path), "--packages", "trl", "peft>=0.20", "max_length=64"]
    done = CliRunner().invoke(command, [*words, "--dry-run"], catch_exceptions=False)
    (job,) = [each for each in yaml.safe_load_all(done.output) if each["kind"] == "TrainJob"]
    assert job["metadata"]["annotations"]["trainway.dev/packages"] == "trl\npeft>=0.20"
    assert "max_length=64" in job["spec"]["trainer"]["args"]
