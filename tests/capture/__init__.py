"""What people see on a terminal, taken from a real one (tmux) into README.md: `make capture`."""
