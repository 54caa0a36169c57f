import type { Metadata } from "next";
import { ShopStrategy } from "../_components/lab/shop-strategy";
import { PageFrame } from "../_components/site/page-frame";
import { StrategySheet } from "../_components/strategies/strategy-sheet";
import { byFamily } from "../_lib/catalogue";
import { readCatalogue } from "../_lib/lab-data";
import styles from "./page.module.css";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "Strategies" };

export default async function StrategiesPage() {
  const { strategies } = await readCatalogue();
  const groups = byFamily(strategies);
  return (
    <PageFrame
      title="Strategies"
      lead="How each one works, what it promises while nothing fails, and what becomes of the promise when something does. An unsafe strategy is built as faithfully as a safe one: its flaw is the exhibit."
    >
      <ShopStrategy />
      <nav className={styles.index} aria-label="Strategies on this page">
        {groups.map((group) => (
          <div key={group.family}>
            <span className="muted">{group.label}</span>
            <ul>
              {group.strategies.map(({ id }) => (
                <li key={id}>
                  <a href={`#${id}`}>{id}</a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      {groups.map((group) => (
        <section key={group.family} className={styles.family} aria-labelledby={`family-${group.family}`}>
          <h2 id={`family-${group.family}`}>{group.label}</h2>
          {group.strategies.map((strategy) => (
            <StrategySheet key={strategy.id} strategy={strategy} />
          ))}
        </section>
      ))}
    </PageFrame>
  );
}
