import pytest

from .service import BINDINGS, Service


@pytest.fixture(scope="module", params=BINDINGS)
def every(request: pytest.FixtureRequest) -> Service:
    return Service(request.param)


@pytest.fixture
def service(every: Service) -> Service:
    """The service of each adapter, one after the other, which has heard of nothing yet."""
    return every.forget()
