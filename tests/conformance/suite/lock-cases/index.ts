import type { LockCase } from "../case";
import { blackHole } from "./black-hole";
import { closeInBlackHole } from "./close";
import { exclusionInProcess, exclusionOverProcesses } from "./exclusion";
import { holderKilled, holderPaused } from "./expiry";
import { risingTokens, staleWrite } from "./fencing";
import { lateAcquire } from "./late-acquire";
import { lossToSignal } from "./loss";
import { releaseAfterAbort, releaseAfterThrow } from "./release";
import { longSection, renewalAndRelease } from "./renewal";
import { serverRestart } from "./server-restart";
import { noTimerAfterACall } from "./timers";
import { abortedWait, boundedWait, nestedSection, tryOnce } from "./waiting";

/** The cases for every lock. */
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
  blackHole,
  closeInBlackHole,
  noTimerAfterACall,
];

/** These pause and kill a worker, so they run last. */
export const lastLockCases: readonly LockCase[] = [holderPaused, holderKilled];
