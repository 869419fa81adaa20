"""What a new machine is told when it starts for the first time: who may log in.

The text is in the format of cloud-init, which the images of all large clouds read. JSON is YAML, so
nothing in a key can end its string.
"""

import json


def user_data(public_key: str) -> str:
    """Let the owner of a key in, as the user that the image has for people."""
    return f"#cloud-config\n{json.dumps({'ssh_authorized_keys': [public_key.strip()]})}\n"
