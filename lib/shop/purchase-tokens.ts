import { randomBytes } from "node:crypto";
import { postgresPool } from "../services/postgres";
import { ShopError } from "./shop-error";

/**
 * Purchase tokens: one-time rights to buy, issued before a sale. The order that uses a token refers to it under a unique
 * index, so a token is used exactly if its purchase succeeded. It stays used if the order is cancelled or expires.
 */

export interface IssuedToken {
  readonly purchaseToken: string;
  readonly productId: number;
  readonly issuedAtEpochMs: number;
  /** False: the buyer already had an unused token. */
  readonly isNew: boolean;
}

const IS_UNUSED = "NOT EXISTS (SELECT 1 FROM orders o WHERE o.purchase_token_id = t.id)";

const UNUSED = `SELECT t.id, t.issued_at FROM purchase_tokens t WHERE t.product_id = $1::int AND t.user_id = $2::text
  AND ${IS_UNUSED} ORDER BY t.number LIMIT 1`;

/**
 * Of two concurrent requests, one inserts a token. The other either sees that token in its snapshot, or computes the same
 * number and conflicts.
 */
const ISSUE = `INSERT INTO purchase_tokens (id, product_id, user_id, number)
  SELECT $3::text, p.id, $2::text, 1 + (SELECT count(*) FROM purchase_tokens t WHERE t.product_id = p.id AND t.user_id = $2::text)
  FROM products p WHERE p.id = $1::int AND NOT EXISTS (
    SELECT 1 FROM purchase_tokens t WHERE t.product_id = p.id AND t.user_id = $2::text AND ${IS_UNUSED})
  ON CONFLICT (product_id, user_id, number) DO NOTHING RETURNING id, issued_at`;

/** If another request wins the first round, the second finds its token. The third covers a token used in between. */
const ROUNDS = 3;

/**
 * Returns the buyer's unused token for the product, and issues one if there is none.
 * @throws {ShopError} `product_not_found`
 */
export async function issuePurchaseToken(productId: number, buyerId: string): Promise<IssuedToken> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const unused = await postgresPool().query<TokenRow>(UNUSED, [productId, buyerId]);
    if (unused.rows[0]) return issued(productId, unused.rows[0], false);
    const token = randomBytes(24).toString("base64url");
    const inserted = await postgresPool().query<TokenRow>(ISSUE, [productId, buyerId, token]);
    if (inserted.rows[0]) return issued(productId, inserted.rows[0], true);
  }
  throw new ShopError({ code: "product_not_found", message: `There is no product ${productId}.` });
}

interface TokenRow {
  readonly id: string;
  readonly issued_at: Date;
}

function issued(productId: number, row: TokenRow, isNew: boolean): IssuedToken {
  return { purchaseToken: row.id, productId, issuedAtEpochMs: row.issued_at.getTime(), isNew };
}

export interface TokenUse {
  readonly productId: number;
  readonly buyerId: string;
  readonly purchaseToken: string | null;
}

/**
 * Rejects an invalid token before the purchase touches a lock. Concurrent uses of one token are rejected by the unique index.
 * @throws {ShopError} `purchase_token_missing`, `purchase_token_unknown`, `purchase_token_foreign`, `purchase_token_used`
 */
export async function checkPurchaseToken({ productId, buyerId, purchaseToken }: TokenUse): Promise<void> {
  const details = { field: "purchaseToken" };
  if (purchaseToken === null) {
    const message = "purchaseToken: this product requires a purchase token. Get one from POST /api/purchase-tokens.";
    throw new ShopError({ code: "purchase_token_missing", message, details });
  }
  const { rows } = await postgresPool().query<{ product_id: number; user_id: string; used: boolean }>(
    `SELECT product_id, user_id, EXISTS (SELECT 1 FROM orders o WHERE o.purchase_token_id = t.id) AS used
     FROM purchase_tokens t WHERE t.id = $1::text`,
    [purchaseToken],
  );
  const [row] = rows;
  if (row?.product_id !== productId) {
    const message = "purchaseToken: this token was not issued for this product.";
    throw new ShopError({ code: "purchase_token_unknown", message, details });
  }
  if (row.user_id !== buyerId) {
    const message = "purchaseToken: this token was issued to another buyer.";
    throw new ShopError({ code: "purchase_token_foreign", message, details });
  }
  if (row.used) {
    const message = "purchaseToken: this token has already been used.";
    throw new ShopError({ code: "purchase_token_used", message, details });
  }
}
