"""What can be rented where, and for how much: the offers of clouds, read once and kept indexed.

The files have SkyPilot's form, one CSV for each cloud. `csv_format` reads them, `google_hosts` puts
the GPUs of Google Cloud together with their hosts, `traits` tells what a type is like, and `store`
keeps all of it in a file that opens at once. `sources` says which files are meant.
"""
