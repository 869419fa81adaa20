"""What codes of clouds stand for again and again, so that the same trouble reaches equally far.

A table of a cloud names these; only what is special about it is written there.
"""

from typing import Final

from trainway.providers.errors import Meaning, Scope, Trouble

NO_ROOM: Final = Meaning(Trouble.CAPACITY, Scope.ZONE)
NO_SPOT_ROOM: Final = Meaning(Trouble.CAPACITY, Scope.ZONE, spot_only=True)
QUOTA: Final = Meaning(Trouble.QUOTA, Scope.REGION)
ACCOUNT_QUOTA: Final = Meaning(Trouble.QUOTA, Scope.CLOUD)
"""One that holds in all regions."""
THROTTLED: Final = Meaning(Trouble.THROTTLED, Scope.NONE)
CREDENTIALS: Final = Meaning(Trouble.CREDENTIALS, Scope.CLOUD)
DENIED: Final = Meaning(Trouble.DENIED, Scope.CLOUD)
DENIED_HERE: Final = Meaning(Trouble.DENIED, Scope.REGION)
WRONG: Final = Meaning(Trouble.INVALID, Scope.CLOUD)
WRONG_HERE: Final = Meaning(Trouble.INVALID, Scope.REGION)
WRONG_IN_ZONE: Final = Meaning(Trouble.INVALID, Scope.ZONE)
BUSY: Final = Meaning(Trouble.OTHER, Scope.NONE)
SILENT: Final = Meaning(Trouble.UNREACHABLE, Scope.NONE)
UNKNOWN: Final = Meaning(Trouble.OTHER, Scope.ZONE)
