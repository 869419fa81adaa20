"""Run an initializer."""

import sys

from trainway.data.initializer.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
