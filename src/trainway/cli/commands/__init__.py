"""One module for each command, imported only when the command is given."""
