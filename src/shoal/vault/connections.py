"""Connections that are slow, or too many of one address: they end, so that others get their turn."""

from __future__ import annotations

from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def patient_protocol(slowest: float, most_of_one: int | None) -> type[H11Protocol]:
    """HTTP as uvicorn speaks it, for connections that go on: `slowest` is how many seconds each step may take.

    A step is to send the head of a request, or to read on in an answer; of bodies the guard sees to it. `most_of_one`
    is how many connections one address may have; None where a proxy has them all.
    """

    class PatientProtocol(H11Protocol):
        """A connection that has to go on."""

        _asking: TimerHandle | None = None
        _reading: TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait_for_request()
            if most_of_one is not None and self._of_same_address() > most_of_one:
                transport.abort()

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            super().data_received(data)
            if self.cycle is not before:
                _cancel(self._asking)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._wait_for_request()

        def pause_writing(self) -> None:
            super().pause_writing()
            _cancel(self._reading)
            self._reading = self.loop.call_later(slowest, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            _cancel(self._reading)

        def connection_lost(self, exc: Exception | None) -> None:
            _cancel(self._asking)
            _cancel(self._reading)
            super().connection_lost(exc)

        def _wait_for_request(self) -> None:
            _cancel(self._asking)
            self._asking = self.loop.call_later(slowest, self._give_up)

        def _give_up(self) -> None:
            if self.cycle is None or self.cycle.response_complete:
                self.transport.close()

        def _of_same_address(self) -> int:
            return sum(_host(one) == _host(self) for one in self.connections)

    return PatientProtocol


def _host(connection: Any) -> str | None:
    """Where a connection comes from."""
    return connection.client[0] if connection.client else None


def _cancel(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
