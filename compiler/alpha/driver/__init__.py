"""The pipeline, sessions, build closures and the artifact writer."""
