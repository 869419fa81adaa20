"""Who one is at Azure: a token of azure-identity, and the subscription that pays."""

import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from trainway.providers.azure.refusals import HINTS
from trainway.providers.errors import ProviderError, Scope, Trouble

SCOPE: Final = "https://management.azure.com/.default"
SUBSCRIPTION: Final = "AZURE_SUBSCRIPTION_ID"
FOLDER: Final = "AZURE_CONFIG_DIR"
PROFILE: Final = "azureProfile.json"
EARLY_S: Final = 300.0
_TALKATIVE: Final = ("azure", "msal")
_REASON: Final = re.compile(r"AADSTS[0-9]+: [^\r\n]*?(?=\.|\r|\n|$)")
"""What Microsoft says of a login that it refuses, among all that was tried."""


@dataclass(frozen=True)
class Login:
    """Who asks, with a token that is good for a while."""

    token: str
    subscription: str = ""
    """Empty: none is chosen, so it must be the only one."""
    user: str = ""


def azure_login() -> Callable[[], Login]:
    """What azure-identity finds: variables, the identity of this machine, `az login`."""
    from azure.core.exceptions import AzureError  # noqa: PLC0415 - slow, and an extra
    from azure.identity import DefaultAzureCredential  # noqa: PLC0415 - slow, and an extra

    for name in _TALKATIVE:  # they tell of each request, and of all that they have not found
        logging.getLogger(name).setLevel(logging.CRITICAL)
    lock = threading.Lock()
    kept: dict[str, Any] = {"expires": 0.0}

    def login() -> Login:
        with lock:  # `az` is a program, which is not to be started for each request
            now = time.time()
            if now < kept["expires"] - EARLY_S:
                return cast("Login", kept["login"])
            try:
                if "credential" not in kept:
                    kept["credential"] = DefaultAzureCredential(
                        exclude_powershell_credential=True,
                        exclude_developer_cli_credential=True,
                        exclude_shared_token_cache_credential=True,
                        exclude_visual_studio_code_credential=True,
                    )
                found = kept["credential"].get_token(SCOPE)
            except AzureError as error:
                kept.pop("credential", None)
                if now >= kept["expires"]:
                    raise no_credentials(_reason(str(error))) from error
            else:
                kept.update(login=chosen(found.token), expires=float(found.expires_on))
            return cast("Login", kept["login"])

    return login


def _reason(told: str) -> str:
    found = _REASON.search(told)
    return found[0] if found else "nobody is logged in"


def chosen(token: str) -> Login:
    """With the subscription of the environment, or that of `az account set`."""
    if subscription := os.environ.get(SUBSCRIPTION):
        return Login(token, subscription)
    for each in _subscriptions():
        if isinstance(each, dict) and each.get("isDefault"):
            user = each.get("user")
            name = user.get("name") if isinstance(user, dict) else ""
            is_known = not os.environ.get("AZURE_CLIENT_ID")  # which comes before `az login`
            return Login(token, str(each.get("id") or ""), str(name or "") if is_known else "")
    return Login(token)


def _subscriptions() -> list[Any]:
    """Those that the command `az` knows."""
    folder = os.environ.get(FOLDER)
    file = (Path(folder) if folder else Path.home() / ".azure") / PROFILE
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return []
    listed = found.get("subscriptions") if isinstance(found, dict) else None
    return listed if isinstance(listed, list) else []


def no_credentials(why: str) -> ProviderError:
    """What is said where nobody is logged in, or nobody knows who pays."""
    return ProviderError(
        f"Azure: {why}",
        trouble=Trouble.CREDENTIALS,
        scope=Scope.CLOUD,
        hint=HINTS[Trouble.CREDENTIALS],
    )
