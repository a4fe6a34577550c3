"""The verbs of the API as Python calls: what a request means once it is decoded and allowed."""
