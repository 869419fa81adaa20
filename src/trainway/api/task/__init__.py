"""Task YAML, as SkyPilot's users write it: parse, check, serialise. Pure, and light to import.

A task is told from other manifests by having neither apiVersion nor kind. `task_file.parse` is the
way in; the other modules have one part of a task each.
"""
