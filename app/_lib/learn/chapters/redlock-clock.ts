import type { Chapter } from "../chapter";

export const redlockClock: Chapter = {
  title: "Five Redis servers and a clock",
  lead: "A majority survives servers that fail, as long as the others keep what they promised.",
  steps: [
    {
      text: [
        "*Redlock* needs no copy of a server. A client sends `SET key value NX PX …` to five independent servers, and has the lock if a *quorum* accepts it before the *lease* ends. Two servers may fail. Two clients cannot both have three of five, because at least one server would have to accept both.",
        "This is true if each server keeps the key until the lease ends. Redis measures the lease with the *wall clock* of its machine, which an operator or a time service can set. A server that restarts without its data loses the key too.",
        "In this run, two of the five servers are cut off for a moment, so the *holder* has its lock on exactly three. Then one of the three loses the key, and the two come back.",
      ],
      cells: [
        {
          strategy: "redlock",
          fault: "clock-jump",
          setup: "The lab moves the wall clock of one of the three servers past the lease.",
        },
        {
          strategy: "redlock",
          fault: "redlock-node-restart",
          setup: "The lab restarts one of the three servers without its data.",
        },
      ],
      question: "Two servers have the key, three do not. What does the next client get?",
      shows: "unsafe",
      answers: {
        safe: {
          claim: "No lock: the two servers that have the key refuse.",
          reply: "Two refusals are not enough. Three of five accept, and three are a majority.",
        },
        unsafe: {
          claim: "The lock: three of five servers accept.",
          reply:
            "Both clients have three servers. The one server that both have in common is the one that lost the key.",
        },
        blocked: {
          claim: "Neither client has a majority any more, so the sale stops.",
          reply:
            "The first client's majority is broken, but it is not told. The next client finds three servers without the key.",
        },
      },
      lesson: [
        "A quorum replaces trust in one server with trust in the clocks and the disks of most of them. Redlock has no number that rises with each grant, so the database cannot refuse the earlier holder.",
        "ZooKeeper and etcd store each change by *consensus* and have such numbers. If a lock protects money, check one in the database, or do without the lock: `sql-guarded` sells with one conditional UPDATE.",
      ],
    },
  ],
};
