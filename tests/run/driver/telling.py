"""An adapter that works, and prints where it is: what started its process, and what that process has and knows."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from toys import Plain  # type: ignore[import-not-found]

from turnproof.messages import ProviderResponse
from turnproof.provider import Binding, Capabilities
from turnproof.run.project_folder import project_folder

SEEN = ("TOLD_EARLY", "TOLD_LATE", "TURNPROOF_PREFORK")


class Telling(Plain):  # type: ignore[misc]
    def complete(self, *args: Any, **kwargs: Any) -> ProviderResponse:
        facts = {
            "parent": os.getppid(),
            "environment": {name: os.environ[name] for name in SEEN if name in os.environ},
            "folder": project_folder(),
            "guarded": "turnproof.commands.doctor.audit_hook" in sys.modules,
            "imported in": getattr(sys.modules.get("early_sdk"), "PROCESS", None),
        }
        print(json.dumps(facts))
        response: ProviderResponse = super().complete(*args, **kwargs)
        return response


TELLS = Binding(
    name="telling",
    dialect="anthropic-messages",
    model="claude-sonnet-4-5",
    package="early-sdk",
    capabilities=Capabilities(streaming=True),
    open_stateless=Telling,
)
