"""What people see on a terminal, taken from the demo into README.md: `make capture`."""
