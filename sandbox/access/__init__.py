"""Who asks, and what they may: tokens, role bindings, and the reviews that tell about both."""
