"""A REST API for the bench: contacts with a foreign key and tags, and any number of further
resources.
"""
