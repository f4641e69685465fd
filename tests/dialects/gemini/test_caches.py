"""Managed caches of the Gemini API through their lives, and caches that were made elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from turnproof.dialects.base import PromptUsage
from turnproof.dialects.gemini import DIALECT, caches
from turnproof.dialects.gemini.times import parse_timestamp

from .asks import Ask, cached, created, on_cache
from .builders import HANDBOOK, MODEL, PROJECT, TOOLS, user
from .cache_service import Service


def lifetime(shown: dict[str, Any], since: str = "updateTime") -> float:
    ends, began = parse_timestamp(shown["expireTime"]), parse_timestamp(shown[since])
    assert ends is not None
    assert began is not None
    return ends - began


# -- a managed cache


def test_a_new_cache_is_shown_as_recorded() -> None:
    service = Service()
    cache = service.make(created(ttl="300s"))
    assert list(cache) == [
        "name", "model", "createTime", "updateTime", "expireTime", "displayName", "usageMetadata",
    ]  # fmt: skip
    assert cache["model"] == f"models/{MODEL}"
    assert cache["displayName"] == ""
    assert (cache["createTime"], cache["updateTime"]) == ("2023-11-14T22:13:20.000000Z",) * 2
    assert lifetime(cache) == 300
    assert cache["usageMetadata"] == {"totalTokenCount": DIALECT.count(service.parse(created()))}
    name = cache["name"].removeprefix("cachedContents/")
    assert (len(name), name.isalnum(), name.islower()) == (40, True, True)


def test_on_vertex_names_and_models_are_in_a_project() -> None:
    cache = Service().make(Ask(created().body, f"/v1beta1/{PROJECT}/cachedContents"))
    assert cache["name"].startswith(f"{PROJECT}/cachedContents/")
    assert cache["name"].rpartition("/")[2].isdigit()
    assert cache["model"] == f"{PROJECT}/publishers/google/models/{MODEL}"
    assert "displayName" not in cache


def test_a_cache_lives_an_hour_if_nothing_is_said() -> None:
    assert lifetime(Service().make()) == 3600


def test_a_cache_lives_until_the_time_that_is_given() -> None:
    assert Service().make(created(expireTime="2023-11-14T23:00:00Z"))["expireTime"] == "2023-11-14T23:00:00.000000Z"


def test_a_cache_that_is_used_dies_at_its_time_all_the_same() -> None:
    service = Service()
    name = service.make(created(ttl="300s"))["name"]
    service.now += 299
    assert service.use(cached(name)).cache_read > 0
    assert service.send(on_cache(name, "GET"))[0] == 200
    service.now += 1
    assert service.send(on_cache(name, "GET")) == (403, "CachedContent not found (or permission denied)")
    assert service.use(cached(name)).cache_read == 0


def test_an_update_gives_it_another_end_from_now_on() -> None:
    service = Service()
    cache = service.make(created(ttl="300s", displayName="handbook"))
    service.now += 200
    status, longer = service.send(on_cache(cache["name"], "PATCH", ttl="600s"))
    assert (status, longer["displayName"], longer["createTime"]) == (200, "handbook", cache["createTime"])
    assert (lifetime(longer), lifetime(longer, since="createTime")) == (600, 800)
    service.now += 599
    assert service.send(on_cache(cache["name"], "GET")) == (200, longer)


def test_an_update_without_an_end_leaves_it() -> None:
    service = Service()
    cache = service.make(created(ttl="300s"))
    service.now += 200
    assert service.send(on_cache(cache["name"], "PATCH"))[1]["expireTime"] == cache["expireTime"]


def test_what_is_deleted_is_gone_for_every_operation() -> None:
    service = Service()
    name = service.make()["name"]
    assert service.send(on_cache(name, "DELETE")) == (200, {})
    for method in ("GET", "PATCH", "DELETE"):
        assert service.send(on_cache(name, method))[0] == 403
    assert service.send(cached(name))[0] == 403


def test_living_caches_are_listed_each_at_its_own_door() -> None:
    service = Service()
    listing = on_cache("cachedContents", "GET")
    there = Ask(created().body, f"/v1beta1/{PROJECT}/cachedContents")
    assert service.send(listing) == (200, {})
    first, second = service.make(created(ttl="100s")), service.make()
    elsewhere = service.make(there)
    assert service.send(listing) == (200, {"cachedContents": [first, second]})
    assert service.send(replace(there, method="GET")) == (200, {"cachedContents": [elsewhere]})
    service.now += 100
    assert service.send(listing) == (200, {"cachedContents": [second]})


def test_equal_runs_get_equal_names_and_none_is_given_twice() -> None:
    one, other, third = Service(), Service(), Service("another seed")
    names = [one.make()["name"], one.make()["name"]]
    assert [other.make()["name"], other.make()["name"]] == names
    one.send(on_cache(names[1], "DELETE"))
    one.now += 4000
    assert one.make()["name"] not in names
    assert third.make()["name"] not in names
    assert names[0] != names[1]


def test_without_a_judge_in_front_a_dead_cache_is_refused_all_the_same() -> None:
    service = Service()
    rendered = DIALECT.render_extra(
        service.parse(on_cache("cachedContents/a", "GET")), PromptUsage(0), service.world, ""
    )
    assert rendered.status == 403


def test_a_body_that_names_no_model_is_refused() -> None:
    service = Service()
    status, message = service.send(Ask({"contents": [user(HANDBOOK)]}, "/v1beta/cachedContents"))
    assert (status, "not found" in message) == (404, True)


# -- caches seen from outside


STORED = "cachedContents/0mpy4h58mvb03bk9"
RECORDED: dict[str, Any] = {
    "name": STORED,
    "model": f"models/{MODEL}",
    "createTime": "2026-08-10T23:31:18.276711Z",
    "updateTime": "2026-08-10T23:31:18.276711Z",
    "expireTime": "2026-08-10T23:36:18.276711221Z",
    "displayName": "",
    "usageMetadata": {"totalTokenCount": 9609},
}


def observed(service: Service, request: Ask, answer: object, status: int = 200) -> None:
    DIALECT.observe(service.parse(request), status, {}, msgspec.json.encode(answer), service.world)


def test_a_recorded_creation_makes_the_cache_here_with_its_life_on_our_clock() -> None:
    service = Service()
    observed(service, created(ttl="300s", tools=TOOLS), RECORDED)
    found = service.parse(cached(STORED))
    assert (found.managed_messages, len(found.tools)) == (1, 1)
    service.now += 299
    assert caches.find_cache(service.world, STORED) is not None
    service.now += 2
    assert caches.find_cache(service.world, STORED) is None


def test_a_recorded_update_and_deletion_are_done_here_too() -> None:
    service = Service()
    observed(service, created(), RECORDED)
    service.now += 200
    later = RECORDED | {"updateTime": "2026-08-10T23:34:38Z", "expireTime": "2026-08-10T23:44:38Z"}
    observed(service, on_cache(STORED, "PATCH", ttl="600s"), later)
    service.now += 500
    assert service.send(on_cache(STORED, "GET"))[0] == 200
    observed(service, on_cache(STORED, "DELETE"), {})
    assert service.send(on_cache(STORED, "GET"))[0] == 403


def test_what_was_refused_or_says_nothing_changes_nothing() -> None:
    service = Service()
    observed(service, created(), {"error": {"code": 400}}, status=400)
    observed(service, created(), [])
    observed(service, created(), {"name": None})
    observed(service, on_cache("cachedContents/a", "DELETE"), {})
    observed(service, on_cache("cachedContents/a", "PATCH", ttl="1s"), RECORDED)
    observed(service, on_cache("cachedContents", "GET"), {"cachedContents": [RECORDED]})
    assert service.world.resources == {}


def test_a_creation_without_times_lives_the_usual_hour() -> None:
    service = Service()
    observed(service, created(), {"name": "cachedContents/a"})
    service.now += 3599
    assert caches.find_cache(service.world, "cachedContents/a") is not None
    service.now += 1
    assert caches.find_cache(service.world, "cachedContents/a") is None
