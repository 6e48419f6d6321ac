"""Shortens results: divides a result into pages, and summarises it. These modules do not depend on
a host.
"""
