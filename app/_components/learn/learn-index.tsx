import { CHAPTERS } from "@/app/_lib/learn/chapters/all-chapters";
import { hrefOf } from "@/app/_lib/learn/learn-state";
import { PageFrame } from "../site/page-frame";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import styles from "./learn-index.module.css";

const LEAD =
  "Seven failures of locks, two minutes each. Predict the result, run it on this lab's servers, and see step by step what happened.";

/** The table of contents. */
export function LearnIndex() {
  return (
    <PageFrame title="Learn" lead={LEAD}>
      <p>
        <LabLink href={hrefOf({ chapter: 1 })} className={button.primary}>
          Begin with chapter 1
        </LabLink>
      </p>
      <ol className={styles.chapters}>
        {CHAPTERS.map(({ title, lead, steps }, index) => (
          <li key={title}>
            <span className={styles.number}>{index + 1}</span>
            <div>
              <h2>
                <LabLink href={hrefOf({ chapter: index + 1 })}>{title}</LabLink>
              </h2>
              <p>{lead}</p>
            </div>
            <ul className={styles.runs} aria-label="Runs of this chapter">
              {steps.map(({ cells: [{ strategy, fault }] }) => (
                <li key={strategy}>
                  <code>{strategy}</code>
                  {fault === null ? null : (
                    <>
                      {" "}
                      under <code>{fault}</code>
                    </>
                  )}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </PageFrame>
  );
}
