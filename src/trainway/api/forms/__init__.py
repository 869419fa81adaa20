"""Jobs as the fields of a form: what the page of the dashboard asks for, made into a manifest."""
