import asyncio

from starlette.types import Message, Receive, Scope, Send

from trainway.server.service import Activity


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_quiet_is_the_time_since_the_last_request_ended() -> None:
    clock = Clock()
    activity = Activity(clock)
    clock.now = 5.0
    assert activity.quiet_seconds() == 5.0

    async def slow(_scope: Scope, _receive: Receive, _send: Send) -> None:
        clock.now = 20.0
        assert activity.quiet_seconds() == 0.0

    async def receive() -> Message:
        return {}

    async def send(_message: Message) -> None:
        pass

    asyncio.run(_call(activity, slow, receive, send))
    clock.now = 23.0
    assert activity.quiet_seconds() == 3.0


async def _call(activity: Activity, app: object, receive: Receive, send: Send) -> None:
    assert callable(app)
    await activity.counted(app)({"type": "http"}, receive, send)
