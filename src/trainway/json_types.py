"""The type of a JSON object whose fields are not known here, for all packages.

The agents, which need nothing but Python, name it for the type checker only.
"""

from typing import Any

Json = dict[str, Any]
