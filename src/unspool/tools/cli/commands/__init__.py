"""The commands, one file for each (`steps` holds three that have one form): arguments in, exit status out."""
