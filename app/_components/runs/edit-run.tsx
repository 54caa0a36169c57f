"use client";

import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { useAdminRequest } from "@/app/_hooks/use-admin-request";
import { callApi, problemSentence } from "@/app/_lib/api";
import type { RunDocument } from "@/lib/runs/document";
import form from "../lab/small-form.module.css";
import { TokenDialog } from "../lab/token-dialog";
import button from "../ui/button.module.css";
import { Dialog } from "../ui/dialog";

/** The limit of the API. */
const MAX_NAME_LENGTH = 80;

interface EditRunProps {
  readonly run: Pick<RunDocument, "id" | "name" | "strategy">;
}

/** Renames a run that has ended. */
export function RenameRun({ run: { id, name = "" } }: EditRunProps) {
  const router = useRouter();
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState(name);
  const request = useAdminRequest(
    () => callApi<RunDocument>(`/api/runs/${id}`, { method: "PATCH", body: { name: text } }),
    () => {
      setOpen(false);
      request.reset();
      router.refresh();
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.run();
  };
  return (
    <>
      <button type="button" className={button.link} onClick={() => setOpen(true)}>
        {name === "" ? "Name this run" : "Rename"}
      </button>
      <Dialog open={isOpen} title="Name of the run" onClose={() => setOpen(false)}>
        <form className={form.form} onSubmit={submit}>
          <label htmlFor="run-name">Name</label>
          <input
            id="run-name"
            maxLength={MAX_NAME_LENGTH}
            value={text}
            aria-describedby="run-name-problem"
            onChange={(event) => setText(event.target.value)}
          />
          <p className={form.line}>Shown in the list of runs. Without a name, the list shows the run's id.</p>
          <p className="alarm" id="run-name-problem" role="alert">
            {request.problem === null ? "" : problemSentence(request.problem)}
          </p>
          <button type="submit" className={button.primary} disabled={request.isSending}>
            Save
          </button>
        </form>
      </Dialog>
      <TokenDialog {...request.tokenDialog} />
    </>
  );
}

/** Deletes a run that has ended, after a confirmation. */
export function DeleteRun({ run: { id, name, strategy } }: EditRunProps) {
  const router = useRouter();
  const [isOpen, setOpen] = useState(false);
  const request = useAdminRequest(
    () => callApi(`/api/runs/${id}`, { method: "DELETE" }),
    () => router.replace("/runs"),
  );
  return (
    <>
      <button type="button" className={button.link} onClick={() => setOpen(true)}>
        Delete
      </button>
      <Dialog open={isOpen} title="Delete this run?" onClose={() => setOpen(false)}>
        <div className={form.form}>
          <p>
            <code>{strategy}</code>, {name ?? id}: its document, history and samples are deleted, and the product or
            coupon that it created for itself. This cannot be undone, and links to its page stop working.
          </p>
          <p className="alarm" role="alert">
            {request.problem === null ? "" : problemSentence(request.problem)}
          </p>
          <button type="button" className={button.primary} disabled={request.isSending} onClick={request.run}>
            {request.isSending ? "Deleting …" : "Delete the run"}
          </button>
        </div>
      </Dialog>
      <TokenDialog {...request.tokenDialog} />
    </>
  );
}
