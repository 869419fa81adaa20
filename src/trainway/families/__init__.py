"""The table of families: what a submission to each kind of infrastructure looks like.

Client and server both read it, so it imports neither. Outside this table and its own folder below
`backends/`, no code knows a family by name.
"""
