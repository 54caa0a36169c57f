import { expiryTooShort } from "./expiry-too-short";
import { fenceOnWriteOnly } from "./fence-on-write-only";
import { firstNodeOverlooked } from "./first-node-overlooked";
import { keyWithoutLease } from "./key-without-lease";
import { missedWakeUp } from "./missed-wake-up";
import type { Mutant } from "./mutant";
import { noFence } from "./no-fence";
import { ownKeyAsPredecessor } from "./own-key-as-predecessor";
import { predecessorBehind } from "./predecessor-behind";
import { predecessorOverlooked } from "./predecessor-overlooked";
import { releaseInFlight } from "./release-in-flight";
import { releaseWithoutOwner } from "./release-without-owner";
import { renewalAfterRelease } from "./renewal-after-release";
import { renewalIgnoresRemovedKey } from "./renewal-ignores-removed-key";
import { renewalRecreatesKey } from "./renewal-recreates-key";
import { unlockWithoutOwner } from "./unlock-without-owner";
import { validityFromReply } from "./validity-from-reply";
import { watchAfterCheck } from "./watch-after-check";
import { watchFromNow } from "./watch-from-now";
import { writeNotCancelled } from "./write-not-cancelled";

export const MUTANTS: readonly Mutant[] = [
  releaseWithoutOwner,
  releaseInFlight,
  writeNotCancelled,
  noFence,
  fenceOnWriteOnly,
  watchAfterCheck,
  watchFromNow,
  validityFromReply,
  missedWakeUp,
  renewalAfterRelease,
  renewalRecreatesKey,
  renewalIgnoresRemovedKey,
  unlockWithoutOwner,
  predecessorOverlooked,
  predecessorBehind,
  ownKeyAsPredecessor,
  keyWithoutLease,
  firstNodeOverlooked,
  expiryTooShort,
];
