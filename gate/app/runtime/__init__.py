"""What every command runs on: its world, console, connection, lanes and watches."""

__all__ = [
    "check_sources",
    "command_end",
    "command_start",
    "console",
    "controller_manager",
    "end_report",
    "live_state",
    "live_tree",
    "masking",
    "recorded_policy",
    "session",
    "stopped",
    "tape",
    "watches",
    "worker_lanes",
    "workload_names",
    "world",
]
