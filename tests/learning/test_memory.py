"""What is made once for all chains of a process."""

import pickle
import threading

import pytest

from sparse_problems import forget, problem, together
from vmqp.errors import InputError
from vmqp.learning import memory
from vmqp.learning.memory import remembered


def test_threads_that_ask_at_once_get_one_thing():
    made = []

    def make():
        made.append(object())
        threading.Event().wait(0.05)  # long enough for the others to come
        return made[-1]

    found = together(lambda: remembered("kind", "one thing", make), 8)
    assert len(made) == 1
    assert all(thing is made[0] for thing in found)
    assert remembered("kind", "one thing", make) is made[0]


def test_threads_that_ask_for_a_graph_at_once_get_one(monkeypatch):
    given, count = problem(5), []
    make = type(given)._make_graph
    monkeypatch.setattr(type(given), "_make_graph", lambda self: (count.append(self), make(self))[1])
    forget()
    copies = [pickle.loads(pickle.dumps(given)) for _ in range(4)]
    found = together(lambda: copies.pop().on_graph, 4)
    assert len(count) == 1
    assert all(graph is found[0] for graph in found)


def test_of_each_kind_the_last_two_are_kept():
    first = remembered("kind", "first", object)
    other = remembered("other kind", "first", object)
    assert remembered("kind", "first", object) is first
    second = remembered("kind", "second", object)
    assert second is not first
    assert remembered("kind", "first", object) is first
    third = remembered("kind", "third", object)
    assert remembered("kind", "third", object) is third
    assert remembered("kind", "second", object) is not second
    assert remembered("other kind", "first", object) is other


def test_only_some_kinds_are_kept():
    forget()
    for kind in range(memory._KINDS):
        remembered(str(kind), "", object)
    first = remembered("0", "", object)
    remembered("one more", "", object)
    assert remembered("0", "", object) is first, "it was asked for since"
    assert len(memory._found) == memory._KINDS
    assert "1" not in memory._found


def test_what_could_not_be_made_is_made_again():
    def fail():
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        remembered("kind", "fails at first", fail)
    assert remembered("kind", "fails at first", lambda: 7) == 7


def test_others_do_not_wait():
    """What takes long does not hold up another kind."""
    inside, release = threading.Event(), threading.Event()

    def slow():
        inside.set()
        release.wait(10.0)
        return 1

    thread = threading.Thread(target=remembered, args=("slow", "", slow))
    thread.start()
    try:
        assert inside.wait(10.0)
        assert remembered("quick", "", lambda: 2) == 2
    finally:
        release.set()
        thread.join()
    assert remembered("slow", "", lambda: 3) == 1
