def invoke(request: str) -> str:
    """Answers a request, both of them JSON texts."""
