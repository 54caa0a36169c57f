"use client";

import { useState } from "react";
import type { ApiProblem, ApiResult } from "../_lib/api";

/**
 * A request that may need the admin token. If the lab requires one, the caller shows its dialog with `tokenDialog`, and the
 * request is repeated with the token. After a success the state stays `isSending`: the caller leaves or closes the view.
 */
export function useAdminRequest<T>(send: () => Promise<ApiResult<T>>, onDone: (value: T) => void) {
  const [isSending, setIsSending] = useState(false);
  const [needsAdminToken, setNeedsAdminToken] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);

  const run = async () => {
    setIsSending(true);
    setProblem(null);
    const result = await send();
    if (result.ok) return onDone(result.value);
    setIsSending(false);
    if (result.problem.code === "admin_token_required") return setNeedsAdminToken(true);
    setProblem(result.problem);
  };
  const close = () => setNeedsAdminToken(false);
  const tokenDialog = {
    open: needsAdminToken,
    onClose: close,
    onAccepted: () => {
      close();
      void run();
    },
  };
  return { run: () => void run(), reset: () => setIsSending(false), isSending, problem, tokenDialog };
}
