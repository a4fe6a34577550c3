"""What every command runs on: its world, console, connection, lanes and watches."""

__all__ = [
    "check_sources",
    "command_end",
    "console",
    "controller_manager",
    "live_state",
    "live_tree",
    "masking",
    "metrics",
    "session",
    "watches",
    "worker_lanes",
    "workload_names",
    "world",
]
