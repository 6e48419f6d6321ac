"""The parts of a refusal that are about keys: wrappers, and the declared fields of an object."""
