from turnproof.messages import ProviderData, Text, Thought
from turnproof_adapters.peers.issued_data import IssuedData, present


class Messages(IssuedData):
    """The two methods, as a reader and writer of messages calls them."""

    def issued(self, data: dict[str, object] | None) -> ProviderData | None:
        return self._issued(data)

    def own(self, part: Text | Thought) -> dict[str, object]:
        return self._own(part)


GEMINI = Messages("gemini", "gemini-2.5-flash")


def test_what_a_model_issued_goes_back_to_its_dialect_alone() -> None:
    part = Thought("Hm.", provider_data=GEMINI.issued({"signature": "s", "places": [1, 2]}))
    assert part.provider_data == ProviderData("gemini", "gemini-2.5-flash", {"signature": "s", "places": [1, 2]})
    assert Messages("gemini", "gemini-3-flash").own(part) == {"signature": "s", "places": [1, 2]}
    assert Messages("anthropic-messages", "claude-sonnet-4-6").own(part) == {}


def test_what_goes_back_may_be_changed_to_any_depth() -> None:
    part = Text("41 %", provider_data=GEMINI.issued({"places": [{"at": 1}]}))
    own = GEMINI.own(part)
    places = own.pop("places")
    assert isinstance(places, list)
    places[0]["at"] = 2
    assert GEMINI.own(part) == {"places": [{"at": 1}]}


def test_nothing_issued_is_no_data() -> None:
    assert GEMINI.issued({}) is None
    assert GEMINI.issued(None) is None
    assert GEMINI.own(Text("41 %")) == {}
    assert present(signature=None, redacted="", message="{}") == {"message": "{}"}
