"""The applications: the command, the studio, and the viewer that both show. Nothing here is for import."""
