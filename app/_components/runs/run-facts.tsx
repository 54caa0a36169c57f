import type { ReactNode } from "react";
import { durationText, formatCount, formatJain, formatRate, NO_VALUE, settingText } from "@/app/_lib/format";
import { formatFault } from "@/lib/faults/fault-text";
import type { RunDocument } from "@/lib/runs/document";
import styles from "./run-facts.module.css";

type Fact = readonly [name: string, value: ReactNode];

export function FactList({ title, facts }: { title: string; facts: readonly Fact[] }) {
  return (
    <section className={styles.facts} aria-label={title}>
      <h2>{title}</h2>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function configFacts({ id, target, config }: RunDocument): Fact[] {
  const load: Fact =
    config.rate === null
      ? ["Buyers, all at once", formatCount(config.vus)]
      : ["Arrivals", `${formatCount(config.rate)} per second for ${durationText(config.durationMs)}`];
  return [
    ["Run", id],
    ["Target", `${target.kind} ${target.id}`],
    ["Stock", formatCount(config.stock)],
    load,
    ["Work while holding", settingText(config.holdMs)],
    ["Lease", settingText(config.ttlMs)],
    ["Wait timeout", settingText(config.waitTimeoutMs)],
    ["Store nodes", config.nodes],
    ...(config.faults ?? []).map((fault): Fact => ["Requested fault", formatFault(fault)]),
    ["Load generator", config.engine],
    ["Seed", config.seed],
  ];
}

export function outcomeFacts({ fairness, throughput, counts, latencySource, expected }: RunDocument): Fact[] {
  const rate = (perSecond: number | null) => (perSecond === null ? NO_VALUE : `${formatRate(perSecond)} per second`);
  return [
    ["Expected verdict", expected],
    ["Requests", formatCount(counts.requests)],
    ["Responses", rate(throughput.completedPerSecond)],
    ["Fairness of waits (Jain)", formatJain(fairness.jain)],
    ["Longest wait", durationText(fairness.longestWaitMs)],
    ["Latency measured by", latencySource === "client" ? "the load generator" : "the store nodes"],
  ];
}

export function machineFacts({ versions, machine }: RunDocument): Fact[] {
  return [
    ...Object.entries(versions).map(([name, version]): Fact => [name, version]),
    ["Processors", `${machine.cpus} × ${machine.cpuModel}`],
    ["Memory", `${formatCount(machine.memoryMb)} MB`],
    ["System", machine.os],
  ];
}
