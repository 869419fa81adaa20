"""Steps from older databases to the tables of today, for Alembic."""
