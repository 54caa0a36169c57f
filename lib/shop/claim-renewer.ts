import { log } from "../services/log";
import type { HeldClaim } from "./idempotency-keys";

/** Less than a third of a claim's length, so that a claim survives two failed renewals. */
export const RENEW_EVERY_MS = 1_500;

/** Renews all claims of this process with one call per interval. It has a timer only while there are claims. */
export class ClaimRenewer {
  private readonly claims = new Set<HeldClaim>();
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly renewAll: (claims: readonly HeldClaim[]) => Promise<void>) {}

  add(claim: HeldClaim): void {
    this.claims.add(claim);
    this.timer ??= setInterval(() => void this.renew(), RENEW_EVERY_MS).unref();
  }

  remove(claim: HeldClaim): void {
    this.claims.delete(claim);
    if (this.claims.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  private async renew(): Promise<void> {
    await this.renewAll([...this.claims]).catch((error: Error) => {
      log().warn({ reason: error.message }, "could not renew the claims on idempotency keys; retrying");
    });
  }
}
