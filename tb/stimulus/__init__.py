"""What is played: scenarios, and where they come from."""
