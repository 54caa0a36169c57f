import type { LockCase } from "../case";
import { exclusionInProcess, exclusionOverProcesses } from "./exclusion";
import { holderKilled, holderPaused } from "./expiry";
import { risingTokens, staleWrite } from "./fencing";
import { lateAcquire } from "./late-acquire";
import { lossToSignal } from "./loss";
import { releaseAfterAbort, releaseAfterThrow } from "./release";
import { longSection, renewalAndRelease } from "./renewal";
import { serverRestart } from "./server-restart";
import { silentServer } from "./silent-server";
import { noTimerAfterACall } from "./timers";
import { abortedWait, boundedWait, nestedSection, tryOnce } from "./waiting";

/** What every lock promises. */
export const lockCases: readonly LockCase[] = [
  exclusionInProcess,
  exclusionOverProcesses,
  tryOnce,
  boundedWait,
  abortedWait,
  nestedSection,
  releaseAfterThrow,
  releaseAfterAbort,
  lateAcquire,
  renewalAndRelease,
  longSection,
  lossToSignal,
  risingTokens,
  staleWrite,
  serverRestart,
  silentServer,
  noTimerAfterACall,
];

/** They pause a worker, and use one up. */
export const lastLockCases: readonly LockCase[] = [holderPaused, holderKilled];
