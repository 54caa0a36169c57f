import { SQL_STATE, sqlStateOf } from "../locks/postgres/sql-state";
import type { RowRejection } from "./types";

/** The rejection that each unique index and check constraint stands for. */
const byConstraint: Readonly<Record<string, RowRejection>> = {
  coupon_claims_coupon_id_user_id_key: { status: "already_claimed" },
  buyer_allowances_units_check: { status: "limit_reached" },
  orders_idempotency_key: { status: "repeated_key" },
  orders_purchase_token: { status: "token_used" },
};

/** Translates the constraint error of a statement, which has changed nothing; null for any other error. */
export function rowRejectionOf(error: unknown): RowRejection | null {
  const state = sqlStateOf(error);
  if (state !== SQL_STATE.uniqueViolation && state !== SQL_STATE.checkViolation) return null;
  const { constraint = "" } = error as { constraint?: string };
  return byConstraint[constraint] ?? null;
}

/** Distinguishes a rejection from the row of a writing statement, or from no row. */
export function isRowRejection(written: object | undefined): written is RowRejection {
  return written !== undefined && "status" in written;
}
