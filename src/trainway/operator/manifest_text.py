"""Objects as YAML that people read and every tool takes."""

from collections.abc import Sequence

import yaml

from trainway.json_types import Json


class _Dumper(yaml.CSafeDumper):
    """Writes a value that stands in two places twice, since not every reader knows aliases."""

    def ignore_aliases(self, _data: object) -> bool:
        """Never use an alias."""
        return True


def _represent_text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    """Write a text of several lines as one."""
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def manifest_text(objects: Sequence[Json]) -> str:
    """The objects as YAML documents."""
    return "---\n".join(
        yaml.dump(obj, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
        for obj in objects
    )
