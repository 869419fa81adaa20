"""Where packages come from: what pip was told, in the words of uv. Pure but for reading files.

uv reads its own variables and files, and none of pip's. Whoever has set up pip only would install
from elsewhere with uv; so pip's settings count where nothing says anything to uv.
"""

from __future__ import annotations

import configparser
import os
import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PAIRS = (
    ("index-url", "PIP_INDEX_URL", "UV_INDEX_URL", " "),
    ("extra-index-url", "PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", " "),
    ("find-links", "PIP_FIND_LINKS", "UV_FIND_LINKS", ","),
    ("cert", "PIP_CERT", "SSL_CERT_FILE", " "),
)
"""The setting in `pip.conf`, pip's variable and uv's, and what stands between several values."""
_OF_UV = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS")
_WORDS_OF_UV = ("index", "find-links")


def for_uv(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables with which uv installs from where pip would."""
    env = dict(environ)
    if any(env.get(name) for name in _OF_UV) or has_settings(environ):
        return env
    configured = _pip_configuration(environ)
    for setting, pip_name, uv_name, between in _PAIRS:
        value = environ.get(pip_name) or configured.get(setting)
        if value and not env.get(uv_name):
            env[uv_name] = between.join(value.split())
    return env


def has_settings(environ: Mapping[str, str]) -> bool:
    """Whether a file of uv says where packages come from."""
    paths = [f"{_config_folder(environ)}/uv/uv.toml", "/etc/uv/uv.toml"]
    if environ.get("UV_CONFIG_FILE"):
        paths = [environ["UV_CONFIG_FILE"]]
    lines = [line.strip(" [") for path in paths for line in _text(path).splitlines()]
    return any(line.startswith(_WORDS_OF_UV) for line in lines)


def _pip_configuration(environ: Mapping[str, str]) -> dict[str, str]:
    """What the files of pip say, the later ones counting."""
    home = environ.get("HOME") or os.path.expanduser("~")
    paths = [
        "/etc/pip.conf",
        f"{home}/.pip/pip.conf",
        f"{_config_folder(environ)}/pip/pip.conf",
        environ.get("PIP_CONFIG_FILE") or os.devnull,
    ]
    found: dict[str, str] = {}
    for path in paths:
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(_text(path))
        except configparser.Error:
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                found.update(parser.items(section))
    return found


def _config_folder(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or os.path.expanduser("~")
    return environ.get("XDG_CONFIG_HOME") or posixpath.join(home, ".config")


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
