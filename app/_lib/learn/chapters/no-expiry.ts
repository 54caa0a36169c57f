import type { Chapter } from "../chapter";

export const noExpiry: Chapter = {
  title: "A lock that never ends",
  lead: "A process that crashes does not give its lock back.",
  steps: [
    {
      text: [
        "All nodes of a shop can reach one Redis server. Its command `SETNX` writes a key only if the key does not exist, and Redis runs one command at a time. The purchase whose `SETNX` succeeds is the *holder* of the lock. The others are *waiters*: they try again until the key is gone.",
        "When the holder is done, it deletes the key with `DEL`. Many tutorials begin with this lock, and in a quiet test it works.",
        "Now the node of the holder crashes in the middle of a purchase: out of memory, a new release, a power cut. It never sends `DEL`. The key stays, and it has no *expiry*.",
      ],
      cells: [
        {
          strategy: "redis-setnx",
          fault: "kill-holder",
          setup: "The lab kills the node of one holder before its write (SIGKILL), and starts the node again.",
        },
      ],
      question: "The node runs again after a moment. How does the sale go on?",
      shows: "blocked",
      answers: {
        safe: {
          claim: "It goes on: the connection of the dead process ends, so Redis frees the lock.",
          reply:
            "PostgreSQL frees a lock when its connection ends. In Redis the lock is an ordinary key, which no connection owns.",
        },
        unsafe: {
          claim: "Two purchases have the lock: the killed one and the next one.",
          reply:
            "The killed holder writes nothing more, and no other purchase gets the lock. The stock is correct, but it never changes again.",
        },
        blocked: {
          claim: "It does not go on: no purchase gets the lock any more.",
          reply:
            "The key has no end. Each waiter tries until its time is up, and so does every later purchase, until an operator deletes the key.",
        },
      },
      lesson: [
        "The checkers find no wrong order here. A lock can fail in two ways: it lets two purchases in, or it lets none in.",
        "A lock needs an end that does not depend on its holder. `SET key value NX PX 1000` writes the key with an expiry of 1,000 ms. The next chapter shows the price.",
      ],
    },
  ],
};
