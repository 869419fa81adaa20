"""Fresh catalogs: from the price lists that clouds publish, or from files in SkyPilot's form."""
