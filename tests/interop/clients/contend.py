"""Acquires a lock with redis-py or kazoo repeatedly, in contention with other clients. tests/interop/other-client.ts starts it.

argv[1] is the order as JSON. Writes one JSON object per line: ready, hold (one per hold), done. Reads "go" and "stop".
Times are nanoseconds of CLOCK_MONOTONIC, the clock of process.hrtime() in Node.js.
"""

import json
import random
import sys
import threading
import time
import traceback

import redis

order = json.loads(sys.argv[1])
stopped = threading.Event()
output_lock = threading.Lock()


def send(message):
    with output_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def redis_py_lock():
    from redis.lock import Lock

    client = redis.Redis.from_url(order["redisUrl"])
    # By default redis-py polls ten times a second.
    return lambda: Lock(client, order["lockName"], timeout=order["ttlMs"] / 1000, sleep=0.002)


def kazoo_client():
    from kazoo.client import KazooClient

    client = KazooClient(hosts=order["zookeeperHosts"], timeout=10)
    client.start(timeout=15)
    return client


def kazoo_lock():
    """kazoo's default node names, configured to see Curator's and ours."""
    client = kazoo_client()
    return lambda: client.Lock(order["lockName"], extra_lock_patterns=["-lock-"])


def kazoo_curator_lock():
    """Node names that Curator sorts correctly."""
    from kazoo.recipe.lock import Lock

    class CuratorNamedLock(Lock):
        _NODE_NAME = "-lock-"
        _EXCLUDE_NAMES = ["-lock-"]

    client = kazoo_client()
    return lambda: CuratorNamedLock(client, order["lockName"])


MAKERS = {"redis-py": redis_py_lock, "kazoo": kazoo_lock, "kazoo-curator-names": kazoo_curator_lock}


def contend(make_lock):
    witness = redis.Redis.from_url(order["redisUrl"])
    lock = make_lock()
    while not stopped.is_set():
        lock.acquire()
        from_ns = time.monotonic_ns()
        entered = witness.incr(order["witnessKey"])
        time.sleep(order["holdMs"] / 1000)
        left = witness.decr(order["witnessKey"])
        to_ns = time.monotonic_ns()
        lock.release()
        time.sleep(random.random() * order["longestPauseMs"] / 1000)
        send({"type": "hold", "fromNs": str(from_ns), "toNs": str(to_ns), "entered": entered, "left": left})


def guarded(make_lock):
    try:
        contend(make_lock)
    except BaseException:
        send({"type": "failed", "message": traceback.format_exc()})


def main():
    make_lock = MAKERS[order["client"]]()
    send({"type": "ready"})
    assert sys.stdin.readline().strip() == "go"
    callers = [threading.Thread(target=guarded, args=(make_lock,), daemon=True) for _ in range(order["callers"])]
    for caller in callers:
        caller.start()
    # The end of the input also stops the program: the test has ended.
    sys.stdin.readline()
    stopped.set()
    for caller in callers:
        caller.join(timeout=30)
    send({"type": "done"})


main()
