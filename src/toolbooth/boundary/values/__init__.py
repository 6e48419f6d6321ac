"""The parts of a refusal that are about values: the expected type, an example, and advice."""
