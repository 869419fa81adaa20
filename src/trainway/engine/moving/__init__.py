"""Jobs that go on in another place: `trainway jobs move`."""
