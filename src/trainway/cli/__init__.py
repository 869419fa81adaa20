"""The command line: `entry` starts it, `app` has the commands, each in a module of `commands`."""
