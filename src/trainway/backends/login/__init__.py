"""How a machine is reached by ssh, for the families that log in: hosts, and login nodes."""
