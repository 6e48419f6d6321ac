"""The example project, or the generated one of `wide`, behind any gateway: only the gateway
differs.
"""
