"""Notifications: who is told what happens to jobs, and the literal requests for it. Pure."""
