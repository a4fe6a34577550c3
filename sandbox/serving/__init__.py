"""The face of the sandbox: HTTP requests in, answers and watches out, in a real server's words."""
