import { SQL_STATE, sqlStateOf } from "../locks/postgres/sql-state";
import type { RowRejection } from "./types";

/** What each unique index and check of an order's statement means to a buyer. */
const byConstraint: Readonly<Record<string, RowRejection>> = {
  coupon_claims_coupon_id_user_id_key: { status: "already_claimed" },
  buyer_allowances_units_check: { status: "limit_reached" },
  orders_idempotency_key: { status: "repeated_key" },
  orders_purchase_token: { status: "token_used" },
};

/** The refusal a statement failed with, or null when it failed otherwise. Nothing of the statement has happened. */
export function rowRejectionOf(error: unknown): RowRejection | null {
  const state = sqlStateOf(error);
  if (state !== SQL_STATE.uniqueViolation && state !== SQL_STATE.checkViolation) return null;
  const { constraint = "" } = error as { constraint?: string };
  return byConstraint[constraint] ?? null;
}

/** For what a writing statement came to: its row, no row, or a refusal. */
export function isRowRejection(written: object | undefined): written is RowRejection {
  return written !== undefined && "status" in written;
}
