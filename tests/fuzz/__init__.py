"""Fuzzing of everything that reads what somebody else wrote, guided by coverage."""
