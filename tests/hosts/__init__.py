"""What the tests of the CI hosts run on: the hosts' own runners and linters, an image's bed."""
