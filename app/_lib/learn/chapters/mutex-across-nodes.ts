import type { Chapter } from "../chapter";

export const mutexAcrossNodes: Chapter = {
  title: "A mutex across nodes",
  lead: "Each server process has its own memory, and its own lock in it.",
  steps: [
    {
      text: [
        "The obvious lock is a *mutex*. Most languages have one in their standard library: a purchase takes it, runs its *critical section*, and gives it back.",
        "A flash sale needs more than one process, because one is too slow and because one can crash. Each process is a *store node*, and a load balancer gives each purchase to one of them.",
        "A mutex is a value in the memory of one process. The purchases on the first node take turns. The purchases on the second node take turns too, with another mutex. All nodes read and write the same row in PostgreSQL.",
      ],
      cells: [
        {
          strategy: "local-mutex",
          fault: null,
          setup:
            "The buyers of the last chapter arrive at several store nodes, each with its mutex. The lab breaks nothing.",
        },
      ],
      question: "`local-mutex` is safe on one store node. What does it do on three?",
      shows: "unsafe",
      answers: {
        safe: {
          claim: "Every unit is sold once: each node lets only one purchase at a time reach the row.",
          reply: "Each node lets one purchase in, so three nodes let three purchases in at the same time.",
        },
        unsafe: {
          claim: "Purchases on different nodes read the same stock, and the shop sells too much.",
          reply:
            "Each mutex works, but the nodes do not share it. In the steps below, the two purchases run on different nodes.",
        },
        blocked: {
          claim: "The nodes wait for each other, and the sale stops.",
          reply: "No node waits for another one, because each takes only its own mutex.",
        },
      },
      lesson: [
        "A test on one process does not find this error, and neither does a laptop. It appears on the day that the shop gets its second process.",
        "The lock must be in a place that all nodes reach, for example in Redis. Then a new question begins: what happens to the lock if the node that has it crashes?",
      ],
    },
  ],
};
