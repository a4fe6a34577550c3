"""CI hosts: which one runs this, and what it wants to know; nothing here decides."""
