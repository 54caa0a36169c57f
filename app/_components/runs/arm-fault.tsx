"use client";

import { type FormEvent, useState } from "react";
import { useAdminRequest } from "@/app/_hooks/use-admin-request";
import { callApi, problemSentence } from "@/app/_lib/api";
import { armedFaultOf, armedText, type FaultForm, newRunHref, offeredFaults } from "@/app/_lib/arm-fault";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { TokenDialog } from "../lab/token-dialog";
import { useLabStatus } from "../site/lab-status";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import styles from "./arm-fault.module.css";

interface ArmFaultProps {
  readonly document: RunDocument;
  /** Faults of the newest sample. */
  readonly live: NonNullable<RunSample["faults"]>;
}

/** Injects a fault into the run in progress, and says what the active faults do. */
export function ArmFault({ document, live }: ArmFaultProps) {
  const { faults: catalogue, nodes } = useLabStatus().catalogue;
  const { inThisRun: faults, inNewRun } = offeredFaults(document.strategy, catalogue);
  const [form, setForm] = useState<FaultForm>({ id: faults[0]?.id ?? "", node: "", startS: "", lengthS: "" });
  const [armed, setArmed] = useState<string | null>(null);
  const request = armedFaultOf(form);
  const problem = "problem" in request ? request.problem : null;
  const sending = useAdminRequest(
    () => callApi<RunDocument>(`/api/runs/${document.id}/faults`, { method: "POST", body: request }),
    () => {
      sending.reset();
      if (!("problem" in request)) setArmed(armedText(request));
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setArmed(null);
    sending.run();
  };
  const set = (field: keyof FaultForm) => (event: { target: { value: string } }) =>
    setForm((known) => ({ ...known, [field]: event.target.value }));
  const doing = catalogue.filter(({ id }) => live.some((fault) => fault.id === id && fault.isActive));
  if (faults.length === 0) return null;
  return (
    <section className={styles.arm} aria-label="Inject a fault">
      <form className={styles.form} onSubmit={submit}>
        <label>
          Fault
          <select value={form.id} onChange={set("id")}>
            {faults.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
            {inNewRun.map(({ id }) => (
              <option key={id} value={id} disabled>
                {`${id} (new run only)`}
              </option>
            ))}
          </select>
        </label>
        <label>
          Node
          <select value={form.node} onChange={set("node")}>
            <option value="">default</option>
            {nodes.slice(0, document.config.nodes).map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Start in, s
          <input
            inputMode="decimal"
            placeholder="now"
            autoComplete="off"
            value={form.startS}
            onChange={set("startS")}
          />
        </label>
        <label>
          Length, s
          <input
            inputMode="decimal"
            placeholder="default"
            autoComplete="off"
            value={form.lengthS}
            onChange={set("lengthS")}
          />
        </label>
        <button type="submit" className={button.plain} disabled={problem !== null || sending.isSending}>
          {sending.isSending ? "Sending …" : "Inject"}
        </button>
      </form>
      <p className="muted" role="status">
        {doing.length === 0
          ? (armed ?? catalogue.find(({ id }) => id === form.id)?.does)
          : doing.map(({ id, does }) => (
              <span key={id} data-testid="fault-in-progress">
                In progress: <code>{id}</code>. {does}{" "}
              </span>
            ))}
      </p>
      <p className="alarm" role="alert">
        {sending.problem === null ? problem : problemSentence(sending.problem)}
      </p>
      {inNewRun.map((fault) => (
        <p key={fault.id} className="muted">
          <code>{fault.id}</code> needs the servers of the topology {fault.topology} from the first purchase on.{" "}
          <LabLink href={newRunHref(document, fault)}>Set up a new run with {fault.id}</LabLink>
        </p>
      ))}
      <TokenDialog {...sending.tokenDialog} />
    </section>
  );
}
