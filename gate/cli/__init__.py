"""The command line: parses, builds the settings, runs one function of `gate.app`, exits."""
