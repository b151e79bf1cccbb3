"""Pictures and pages that go with a release (extra: ``shoal[report]``)."""
