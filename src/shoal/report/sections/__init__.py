"""The sections of a report, one file each: a function of what is known of a release."""
