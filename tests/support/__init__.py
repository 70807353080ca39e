"""What the tests of the reader are judged by: a slow model, a written corpus, and generators."""
