"""The SDK's constants, in `constants.constants`, where upstream has them."""
