"""A cluster whose scheduler, workers and clients have certificates, as one of several machines has to have."""

from __future__ import annotations

import contextlib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from run.cluster.clusters import digests, specs, subjects
from turnproof.errors import UsageError
from turnproof.run.cluster.connection import Cluster
from turnproof.run.cluster.options import ClusterOptions
from turnproof.run.places import run_place
from turnproof.wire.controls import CONTROLS

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
trustme = pytest.importorskip("trustme", reason="the extra `bench` is not installed")
dask = pytest.importorskip("dask")

pytestmark = pytest.mark.long

ADAPTER = CONTROLS["anthropic-messages"]
TLS = "distributed.comm.tls"


def certificates(folder: Path) -> dict[str, str]:
    """Dask's settings for a node whose certificate a new authority has issued."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "node.pem")
    roles = {f"{TLS}.{role}.cert": str(folder / "node.pem") for role in ("scheduler", "worker", "client")}
    return {f"{TLS}.ca-file": str(folder / "ca.pem"), **roles}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def cluster(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster with a dashboard, which its clients have to show a certificate."""
    with dask.config.set(settings):
        started = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls://",
            security=distributed.Security(require_encryption=True),
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            local_directory=str(tmp_path_factory.mktemp("dask")),
            silence_logs=50,
        )
        with contextlib.closing(started):
            yield started


def test_runs_go_over_tls_with_the_digests_of_local_ones(cluster: Any) -> None:
    assert cluster.scheduler_address.startswith("tls://127.0.0.1:")
    runs = specs(ADAPTER, ("tools/one",))
    place = run_place(ClusterOptions(cluster.scheduler_address), subjects(ADAPTER))
    assert digests(place, runs) == digests(run_place(None, subjects(ADAPTER), jobs=1), runs)


def test_a_certificate_of_another_authority_is_not_let_in(cluster: Any, tmp_path: Path) -> None:
    place = run_place(ClusterOptions(cluster.scheduler_address), subjects(ADAPTER))
    with dask.config.set(certificates(tmp_path)), pytest.raises(UsageError, match="no scheduler answers there"):
        digests(place, specs(ADAPTER, ("tools/one",)))


def test_the_dashboard_is_at_the_address_that_is_printed(cluster: Any) -> None:
    pytest.importorskip("bokeh", reason="Dask's dashboard needs bokeh")
    with Cluster(cluster.scheduler_address) as connection:
        address = connection.dashboard
    with urllib.request.urlopen(address, timeout=10) as page:
        assert page.status == 200
        assert b"Dask" in page.read()
