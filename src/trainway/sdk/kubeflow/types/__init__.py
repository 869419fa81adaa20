"""The SDK's types, in `types.types`, where upstream has them."""
