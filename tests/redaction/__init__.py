"""What redaction promises: nothing planted is left, figures on a labelled set, linear time."""
