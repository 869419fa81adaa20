"""`trainway crds`: the CustomResourceDefinitions of our kinds."""

import click

from trainway.api.crd import crd
from trainway.api.kinds import KINDS, Kind
from trainway.cli.output import echo, to_yaml
from trainway.errors import NotFoundError
from trainway.schema.validation import closest


@click.command("crds")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the CustomResourceDefinitions as YAML.

    NAME picks one of them: trainjobs, TrainJob or trainjobs.trainer.kubeflow.org.
    """
    kinds = list(KINDS.values()) if name is None else [_kind(name)]
    echo(to_yaml(crd(kind) for kind in kinds))


def _kind(name: str) -> Kind:
    names = {
        spelling.lower(): kind
        for kind in KINDS.values()
        for spelling in (kind.plural, kind.singular, f"{kind.plural}.{kind.group}")
    }
    found = names.get(name.lower())
    if found is None:
        meant = closest(name, names)
        hint = f'did you mean "{meant}"?' if meant else "trainway crds prints all of them"
        raise NotFoundError(f'no CustomResourceDefinition "{name}"', hint=hint)
    return found
