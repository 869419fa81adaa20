"""Sends requests to AWS: the only module that knows boto3.

Throttled requests, and those that were not answered, are repeated with growing pauses. That is not
left to botocore: for it every answer 500 is worth another try, and EC2 says so when it has no room.
`AWS_ENDPOINT_URL` and all other variables and files of AWS hold here as for its own programs.
"""

import os
import threading
from collections.abc import Mapping
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from trainway.providers.aws.refusals import AwsError
from trainway.providers.backoff import repeated
from trainway.providers.errors import Trouble

CONFIG: Final = Config(
    retries={"mode": "standard", "total_max_attempts": 1},
    connect_timeout=10,
    read_timeout=60,
    max_pool_connections=32,
    user_agent_extra="trainway",
)
HOME_REGION: Final = "us-east-1"
"""Where it is asked what holds for all regions, if the user has said nothing."""


class AwsCalls:
    """One session, shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Any = None
        self._clients: dict[tuple[str, str], Any] = {}

    @property
    def home_region(self) -> str:
        """The region of the user."""
        variables = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        return variables or HOME_REGION

    def source(self) -> str:
        """Where credentials were found; never what they are."""
        with self._lock:
            found = self._opened().get_credentials()
        return str(found.method) if found else ""

    def send(self, service: str, region: str, operation: str, **request: Any) -> dict[str, Any]:
        """Do one thing; raises what AWS says against it."""
        return repeated(lambda: self._send_once(service, region, operation, request))

    def _send_once(
        self, service: str, region: str, operation: str, request: Mapping[str, Any]
    ) -> dict[str, Any]:
        try:
            answer = getattr(self._client(service, region), operation)(**request)
        except ClientError as error:
            found: Mapping[str, Any] = error.response.get("Error", {})
            code, message = str(found.get("Code", "")), str(found.get("Message", error))
            raise self._refused(code, message) from error
        except (BotoCoreError, ResponseParserError) as error:
            raise self._refused(type(error).__name__, str(error)) from error
        return dict(answer)

    def pages(self, region: str, operation: str, key: str, **request: Any) -> list[dict[str, Any]]:
        """All that a list of EC2 has, page by page."""
        found: list[dict[str, Any]] = []
        while True:
            answer = self.send("ec2", region, operation, **request)
            found += answer.get(key) or []
            following = answer.get("NextToken")
            if not following:
                return found
            request["NextToken"] = following

    def _refused(self, code: str, message: str) -> AwsError:
        """Bad credentials are forgotten, so that the next call sees those the user has renewed."""
        error = AwsError(code, message)
        if error.trouble is Trouble.CREDENTIALS:
            with self._lock:
                self._session, self._clients = None, {}
        return error

    def _client(self, service: str, region: str) -> Any:
        with self._lock:
            found = self._clients.get((service, region))
            if found is None:
                found = self._opened().client(service, region_name=region, config=CONFIG)
                self._clients[service, region] = found
            return found

    def _opened(self) -> Any:
        if self._session is None:
            self._session = boto3.Session()
        return self._session
