"""The parts of a refusal about values: the expected type, an example, and advice."""
