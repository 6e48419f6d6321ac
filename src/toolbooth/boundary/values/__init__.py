"""What a refusal says about values: what is asked for, with an example, and what to do instead."""
