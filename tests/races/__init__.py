"""Two gates on one Deployment at the same time: never two writers at once, one way back each."""
