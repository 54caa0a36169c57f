import type { Chapter } from "../chapter";

export const lostUpdate: Chapter = {
  title: "Lost update",
  lead: "Two buyers read the same stock, and one write erases the other.",
  steps: [
    {
      text: [
        "For each purchase, a shop reads the stock of a product, checks that it is above zero, does some work such as a call to a payment service, and writes the stock minus one. These steps are the *critical section*.",
        "One purchase at a time, this is correct. If two purchases run at the same time, both can read 17. Both check it, and both write 16. Two units are ordered, but the stock fell by one: this is a *lost update*.",
        "After each lost update, the stock shows one unit too many. The shop sells until the stock shows zero, so in the end it has *oversold*.",
        "The strategy `none` uses no lock. It is the control of this lab: it shows what a lock must prevent.",
      ],
      cells: [
        {
          strategy: "none",
          fault: null,
          setup: "More buyers than units arrive at the same time. The lab breaks nothing.",
        },
      ],
      question: "No lock, and a crowd of buyers. What does the sale end with?",
      shows: "unsafe",
      answers: {
        safe: {
          claim: "Every unit is sold once. A purchase takes only milliseconds, so two of them rarely meet.",
          reply:
            "Purchases meet as soon as more of them arrive than one process can finish in that time. In a flash sale, that is at the first moment.",
        },
        unsafe: {
          claim: "The shop orders more units than it has.",
          reply:
            "Each read that comes before another purchase's write repeats an old value. The steps below show one such pair.",
        },
        blocked: {
          claim: "The sale stops before all units are sold.",
          reply: "Without a lock, no purchase waits for another one. All of them go on, and that is the problem.",
        },
      },
      lesson: [
        "The error leaves no message: no request failed, and the stock looks plausible. To find it, compare the orders with the stock, as this lab does after every run.",
        "The remedy is to let one purchase at a time into the critical section. The question of the next chapters is how.",
      ],
    },
  ],
};
