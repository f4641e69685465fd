"""A census on disk: one cassette a pair, from which the census is run again without the service.

`DIR/census/DIALECT/RULE.yaml`. Requests are found by all that a pair says of them, since some offend by a header that
no cassette keeps. Both of a pair are kept, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ... import __version__
from ..._base.loopback import is_loopback
from ..._base.secrets import environment_secrets
from ...dialects.contract import Dialect
from ...wire.cassettes.match import digest_of
from ...wire.cassettes.model import Cassette, Interaction, RecordedResponse
from ...wire.cassettes.recording_proxy import ProxyTarget
from ...wire.cassettes.scrub import MEDIA_TYPES, media_type, scrub_request, scrub_response
from ...wire.cassettes.store import cassette_path, load, save
from .observation import Observation, ShortAnswer
from .pairs import PlainRequest, RulePair, rule_id
from .questions import Answered, read_short, without_private

_FOLDER = "census"


@dataclass(frozen=True, slots=True)
class CensusRecordings:
    """The recordings of one dialect's pairs in a folder. `dialect` may name a surface, as in `openai-chat@azure`."""

    folder: Path
    dialect: str

    def save(self, wire: Dialect, target: ProxyTarget, pair: RulePair, answered: Answered) -> str | None:
        """Keep what the service answered to a pair; or why not, where a reader of the recording would see something
        else than the line has, or what may not be written."""
        responses: list[RecordedResponse] = []
        line = answered.observation
        for response, short in ((answered.illegal, line.illegal), (answered.legal, line.legal)):
            if response is None:
                return "the service was not reached"
            scrubbed = _scrubbed(wire, response, target.secrets)
            if isinstance(scrubbed, str):
                return scrubbed
            if read_short(wire, scrubbed) != short:
                return "without keys and private ids it reads otherwise"
            responses.append(scrubbed)
        address = f"{urlsplit(target.address).scheme}://{target.host}"
        cassette = Cassette(
            adapter=_FOLDER,
            scenario=self._name(pair),
            dialect=self.dialect,
            model=line.model,
            recorded="live",
            date=line.day,
            contributor=line.contributor,
            interactions=tuple(
                Interaction(
                    request=scrub_request(request.as_http(), address, wire.service),
                    response=response,
                    turn=0,
                    round=number,
                    digest=_digest(request),
                )
                for number, (request, response) in enumerate(zip((pair.illegal, pair.legal), responses, strict=True))
            ),
        )
        save(cassette, self._path(pair), secrets=(*target.secrets, *environment_secrets()))
        return None

    def read(self, wire: Dialect, pair: RulePair) -> Observation | str:
        """The line that the service's recorded answers give, or why there is none. Raises CassetteError for a damaged
        file."""
        path = self._path(pair)
        if not path.exists():
            return f"there is no {path}"
        cassette = load(path, remedy=f"turnproof census {self.dialect} --live --record {self.folder}")
        answers: list[ShortAnswer] = []
        for request, kind in ((pair.illegal, "illegal"), (pair.legal, "legal")):
            found = next((one for one in cassette.interactions if one.digest == _digest(request)), None)
            if found is None:
                return f"{path} has another {kind} request ({_models(cassette.model, request.model_asked)})"
            answers.append(read_short(wire, found.response))
            host = urlsplit(found.request.uri).netloc
        illegal, legal = answers
        return Observation(
            turnproof=__version__,
            dialect=self.dialect,
            rule=rule_id(wire, pair),
            variant=pair.variant,
            day=cassette.date,
            host=host,
            loopback=is_loopback(host),
            contributor=cassette.contributor,
            model=cassette.model,
            illegal=illegal,
            legal=legal,
        )

    def _name(self, pair: RulePair) -> str:
        return f"{self.dialect}/{pair.id}"

    def _path(self, pair: RulePair) -> Path:
        return cassette_path(self.folder, _FOLDER, self._name(pair))


def _digest(request: PlainRequest) -> str:
    return digest_of(msgspec.to_builtins(request))


def _models(recorded: str, current: str) -> str:
    if recorded == current:
        return "the pair has changed since"
    return f"recorded of the model {recorded!r}, asked of {current!r}: --model"


def _scrubbed(wire: Dialect, response: RecordedResponse, secrets: tuple[str, ...]) -> RecordedResponse | str:
    kind = media_type(response.headers)
    if response.body and kind not in MEDIA_TYPES:
        return f"its body has the type {kind or 'unknown'!r}"
    try:
        text = response.body.decode()
    except UnicodeDecodeError:
        return "its body is no UTF-8"
    body = without_private(text, secrets).encode()
    return scrub_response(response.status, response.headers, body, wire.service)
