"""The parts of a refusal about keys: wrappers, and the declared fields of an object."""
