import type { Chapter } from "../chapter";

export const wrongDelete: Chapter = {
  title: "Deleting another holder's lock",
  lead: "Work takes too long, and the release then removes the wrong lock.",
  steps: [
    {
      text: [
        "`SET key 1 NX PX 1000` writes the key only if it does not exist, and Redis deletes it after 1,000 ms. The lock is now a *lease*. If its *holder* crashes, the sale waits for one second and goes on.",
        "But the holder gets no message when the lease ends. If its work takes longer, Redis grants the lock to the next purchase. Two purchases are then in the *critical section*.",
        "Then the slow holder finishes its work and sends `DEL key`. The key has the same name and the same value for every holder.",
      ],
      cells: [
        {
          strategy: "redis-set-px",
          fault: "slow-work",
          setup: "The lab makes the work of one holder last longer than its lease.",
        },
      ],
      question: "The lease ends during the work, and the slow holder sends its `DEL`. What follows?",
      shows: "unsafe",
      answers: {
        safe: {
          claim: "No harm: Redis deletes a key only for the client that wrote it.",
          reply: "`DEL` has no such condition. Redis does not store which client wrote a key.",
        },
        unsafe: {
          claim: "A second purchase enters when the lease ends, and a third one after the `DEL`.",
          reply:
            "The `DEL` removes the lock of the second holder, so a third purchase enters beside it. Its own `DEL` can then remove the lock of the next one, and so on.",
        },
        blocked: {
          claim: "The sale stops, because the slow holder still has the lock.",
          reply: "The lease ends without the holder, so the next purchase does get the lock. It gets it too early.",
        },
      },
      lesson: [
        "Write a random value per holder, and delete the key only if it still has this value. A Lua script compares and deletes in one step.",
        "`redis-lock` does this. It also *renews* its lease while it works, and checks it before the write. Under the same fault it is safe. One gap is left, which the next chapter uses.",
      ],
    },
  ],
};
