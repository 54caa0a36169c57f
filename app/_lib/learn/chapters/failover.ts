import type { Chapter } from "../chapter";

export const failover: Chapter = {
  title: "A master that dies before its replica has the lock",
  lead: "Redis answers first and copies afterwards.",
  steps: [
    {
      text: [
        "If the only Redis server stops, no purchase gets a lock. So operators run a *master* and a *replica*, and *Sentinels* that watch both. When the master stops, they promote the replica, and all clients connect to it: this is a *failover*.",
        "Replication is *asynchronous*: the master answers `OK` first and sends the write to its replica afterwards. For most keys this is a good bargain. For a lock, `OK` means that no other purchase has it.",
        "If the master dies between the answer and the copy, the replica never had the key. The *holder* has a *lease* that runs for many more seconds, and it continues to work.",
      ],
      cells: [
        {
          strategy: "redis-lock",
          fault: "redis-failover",
          setup:
            "The lab starts a Redis with two replicas and three Sentinels, cuts the replicas off, and kills the master while a purchase has the lock.",
        },
        {
          strategy: "redis-lock",
          fault: "redis-restart",
          setup:
            "The lab restarts Redis without its data while a purchase has the lock. The effect is the same: the server that answers now does not have the key.",
        },
      ],
      question: "The first holder still works. Another purchase asks for the lock. What does it get?",
      shows: "unsafe",
      answers: {
        safe: {
          claim: "It waits until the first holder is done.",
          reply: "The server that answers now has no key for this lock, and no record that one was granted.",
        },
        unsafe: {
          claim: "It gets the lock at once, beside the first holder.",
          reply:
            "Both purchases received `OK` for the same lock. Neither client made a mistake, and neither could detect it.",
        },
        blocked: {
          claim: "It gets an error: a server that lost its keys grants no locks.",
          reply: "For Redis, a key that was lost and a key that never existed are the same, so the lock is free.",
        },
      },
      lesson: [
        "`WAIT 1` lets the answer wait for a replica. If the lab starts with `REDIS_WAIT_REPLICAS=1`, `redis-lock` refuses a lock that no replica has, and is safe under the same failover.",
        "The price: each lock takes one more round trip, and while the replica is away there are no locks. With several replicas, the promoted one can be one that did not confirm: try `redis-failover-stale-replica`, where one of two replicas has the lock and the other one is promoted. Redis documents `WAIT` as best effort.",
        "A *fencing token* from the same Redis does not help. The promoted replica lacks the last value of the counter too, so both holders can get the same number: `redis-fenced` is unsafe here as well.",
      ],
    },
  ],
};
