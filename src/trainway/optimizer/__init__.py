"""Which machines a job should have: the cheapest that fit, among all types, regions and zones.

A `request` says what fits, `rules` what nobody wants unasked, `search` finds the offers of a
catalog, and `plan` chooses for all tasks of a pipeline at once, since data that goes from one
region to another (`egress`) costs money too. All of it is exact, and pure but for reading the
catalog.
"""
