"""The migration flag as a gate knows it: its variable, its values, and what it has to mean in which phase."""

from __future__ import annotations

from dataclasses import dataclass

from ..._base.settings import GateSettings
from ...errors import UsageError
from ...provider import Path
from ...subject import Flag, SessionBinding
from .phases import FIRST_WITHOUT_FLAG, Setting


@dataclass(frozen=True, slots=True)
class FlagPlan:
    """How the flag is set for runs, and which path each setting has to lead to.

    `flip_phase` is the first phase in which a session whose flag is not set is on the stateless path.
    """

    flag: Flag
    off: str
    on: str
    flip_phase: int

    @classmethod
    def from_settings(cls, settings: GateSettings, session: SessionBinding) -> FlagPlan:
        """What the settings say, else the session's binding. Raises UsageError where on and off are the same."""
        if not settings.flag_off or not settings.flag_on or settings.flag_off == settings.flag_on:
            raise UsageError(
                f"gates: flag_off={settings.flag_off!r} and flag_on={settings.flag_on!r} "
                "have to be two different values, and neither may be empty"
            )
        flag = Flag(settings.flag or session.flag.variable, session.flag.default)
        return cls(flag, settings.flag_off, settings.flag_on, settings.flip_phase)

    def value(self, setting: Setting) -> str | None:
        """What the variable is set to; None: it is not set."""
        return {"default": None, "off": self.off, "on": self.on}[setting]

    def path(self, setting: Setting, phase: int) -> Path:
        """The path that a session has to take. From phase 4 on there is no other than the stateless one."""
        if phase >= FIRST_WITHOUT_FLAG:
            return "stateless"
        if setting == "default":
            return "stateless" if phase >= self.flip_phase else "legacy"
        return "stateless" if setting == "on" else "legacy"

    def words(self, setting: Setting) -> str:
        """The setting as it would stand in front of a command."""
        value = self.value(setting)
        return f"{self.flag.variable} not set" if value is None else f"{self.flag.variable}={value}"
