"""The HTTP API, and the process that serves it: embedded on a unix socket, or shared over TCP."""
