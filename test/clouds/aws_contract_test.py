"""The provider of AWS keeps the contract, against moto."""

import pytest
from moto_cloud import REGION

from trainway.providers.aws.provider import AwsProvider
from trainway.providers.base import Place, Provider
from trainway.providers.contract_testing import ProviderContract


class TestAws(ProviderContract):
    place = Place(REGION, f"{REGION}b")
    instance_type = "m5.large"

    @pytest.fixture
    def provider(self, aws: AwsProvider) -> Provider:
        return aws
