"""A headless Chromium that shows pages as people see them, and tells what they did."""
