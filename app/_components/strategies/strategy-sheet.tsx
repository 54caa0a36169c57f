import type { ReactNode } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import type { CatalogueStrategy } from "@/app/_lib/catalogue";
import { EXPIRY_WORDS, KIND_WORDS, needsWords, SURVIVAL_WORDS, WAITING_WORDS } from "@/app/_lib/traits-words";
import type { ExpectedVerdict, Survival } from "@/lib/locks/types";
import { Prose } from "../ui/prose";
import { VerdictWord } from "../ui/verdict-word";
import styles from "./strategy-sheet.module.css";

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Expected({ verdict }: { verdict: ExpectedVerdict }) {
  return <VerdictWord tone={verdict} />;
}

function Survives({ how }: { how: Survival }) {
  const tone = how === "breaks" ? styles.breaks : how === "not-applicable" ? "muted" : undefined;
  return <span className={tone}>{SURVIVAL_WORDS[how]}</span>;
}

/** One strategy's declared traits, the same that the tests and the expected verdicts are made from. */
export function StrategySheet({ strategy }: { strategy: CatalogueStrategy }) {
  const { id, survives, expected } = strategy;
  return (
    <article className={styles.sheet} id={id} aria-labelledby={`${id}-name`}>
      <div className={styles.what}>
        <h3 id={`${id}-name`} className={styles.name}>
          <code>{id}</code> <span className={styles.remark}>{strategy.remark}</span>
        </h3>
        <p>
          <Prose text={strategy.mechanism} />
        </p>
        {strategy.available ? (
          <p className={styles.action}>
            <LabLink href={`/?strategy=${id}`}>Set up a sale with it</LabLink>
          </p>
        ) : (
          <p className={styles.absent}>{strategy.unavailableReason}</p>
        )}
      </div>
      <dl className={styles.facts}>
        <Fact name="One node">
          <Expected verdict={expected.alone} />
        </Fact>
        <Fact name="Three nodes">
          <Expected verdict={expected.threeNodes} />
        </Fact>
        <Fact name="Is">{KIND_WORDS[strategy.kind]}</Fact>
        <Fact name="Order">{strategy.fair ? "first come, first served" : "as it happens"}</Fact>
        <Fact name="Holder crashes">
          <Survives how={survives.holderCrash} />
        </Fact>
        <Fact name="Holder pauses">
          <Survives how={survives.holderPause} />
        </Fact>
        <Fact name="Server restarts">
          <Survives how={survives.serverRestart} />
        </Fact>
        <Fact name="Fencing token">{strategy.fencingSource ?? "none"}</Fact>
        <Fact name="A waiter">{WAITING_WORDS[strategy.waiting]}</Fact>
        <Fact name="A dead hold ends by">{EXPIRY_WORDS[strategy.expiryClock]}</Fact>
        <Fact name="Needs">{needsWords(strategy.needs)}</Fact>
      </dl>
    </article>
  );
}
