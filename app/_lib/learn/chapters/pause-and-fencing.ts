import type { Chapter, ChapterCell } from "../chapter";

const PAUSE =
  "The lab stops the node of one holder (SIGSTOP) after its last check and before its write, for longer than the lease.";
const pausedHolder = (strategy: string): ChapterCell => ({ strategy, fault: "pause-holder", setup: PAUSE });

export const pauseAndFencing: Chapter = {
  title: "A pause longer than the lease, and fencing",
  lead: "A process that is stopped cannot check anything.",
  steps: [
    {
      text: [
        "`redis-lock` has a random value per *holder* and a script that compares before it deletes. While the work goes on, a timer *renews* the *lease*. Before the write to PostgreSQL, the holder checks that its lease still runs.",
        "Between this check and the write is a gap. A process can stop there for seconds: garbage collection, a virtual machine that moves to another host, a full disk. None of its code runs meanwhile, so no timer renews the lease.",
        "The lease ends. The next purchases get the lock, one after the other, and sell. Then the first process continues where it stopped: after the check, before the write. What it sends now is a *stale write*.",
      ],
      cells: [pausedHolder("redis-lock")],
      question: "What does PostgreSQL do with the stale write?",
      shows: "unsafe",
      answers: {
        safe: {
          claim: "It refuses the write, because the lock is gone.",
          reply: "PostgreSQL has no part in the lock. It receives an ordinary UPDATE on an ordinary connection.",
        },
        unsafe: {
          claim: "It accepts the write, which undoes what other buyers wrote during the pause.",
          reply:
            "The check was true when it ran. No check inside the process can close the gap, because the pause can come after every check.",
        },
        blocked: {
          claim: "It never gets there: all buyers wait until the paused process is back.",
          reply:
            "The lease ended during the pause, so other buyers got the lock. This is what the lease is for, and here it does the harm.",
        },
      },
      lesson: [
        "Only the database can still tell the two writes apart. For that, each write must say which grant of the lock it belongs to.",
      ],
      next: "Next: the same pause with a fencing token",
    },
    {
      text: [
        "`redis-fenced` takes a *fencing token* together with the lock: the script that sets the key also increments a counter. Each *holder* has a higher number than the one before.",
        "When a holder reads the stock, it stores its number in the row, unless the row has a higher one. Its write says `WHERE fence = token`, so it changes nothing if another number is there. The rest is as before: the *lease* ends during the pause, and the late holder sends its *stale write*.",
      ],
      cells: [pausedHolder("redis-fenced")],
      question: "The same pause again. What does the row do with the stale write?",
      shows: "safe",
      answers: {
        safe: {
          claim: "It refuses the write: a later holder has stored a higher token.",
          reply:
            "The row had the token of a later holder, so the write with the lower token changed nothing. This one buyer gets an error. The pause did no other harm.",
        },
        unsafe: {
          claim: "It accepts the write: the lease still ended in the middle of the work.",
          reply: "The lease did end, and two holders were at work. But only the one with the higher token could write.",
        },
        blocked: {
          claim: "The sale stops: the row waits for the paused token.",
          reply: "The row waits for no token. It compares two numbers, and the write changes nothing if they differ.",
        },
      },
      lesson: [
        "A lease makes two holders rare. Only the resource can make them harmless: it must refuse the older one. ZooKeeper and etcd have numbers that rise with each grant too (`zk-fenced`, `etcd-lock`).",
        "Before you choose a lock service, ask two questions. Does it give a number that rises with each grant? Does your database check this number?",
      ],
    },
  ],
};
