"""What a refusal says about keys: wrappers, and the declared fields of an object."""
