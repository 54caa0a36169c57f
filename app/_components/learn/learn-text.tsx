import { Fragment } from "react";
import { keepUnits } from "@/app/_lib/format";
import { partsOf, termsIn } from "@/app/_lib/learn/marked-text";
import styles from "./learn.module.css";

/** A sentence with its code and its terms. */
export function LearnText({ text }: { text: string }) {
  return partsOf(text).map(({ kind, text: part }, index) => {
    const key = `${index}:${part}`;
    if (kind === "code") return <code key={key}>{part}</code>;
    if (kind === "term") return <dfn key={key}>{part}</dfn>;
    return <Fragment key={key}>{keepUnits(part)}</Fragment>;
  });
}

/** Paragraphs, each with the definitions of its terms beside it. */
export function Paragraphs({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => {
    const terms = termsIn(text);
    return (
      <div key={text} className={styles.paragraph}>
        <p>
          <LearnText text={text} />
        </p>
        {terms.length === 0 ? null : (
          <dl className={styles.terms}>
            {terms.map(({ name, definition }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{definition}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    );
  });
}
