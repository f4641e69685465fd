"""What every part of turnproof needs: JSON, frozen values, coroutines, printing, settings and exit codes."""
