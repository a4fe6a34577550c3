"""At home in CI: which host runs this, and what it wants to be told; nothing of it decides."""
