import { randomBytes } from "node:crypto";
import { postgresPool } from "../services/postgres";
import { ShopError } from "./shop-error";

/**
 * One-time rights to buy, issued before a sale. A token is used when an order refers to it (a unique index), in the statement
 * that sells: whatever sold nothing has used none. It stays used when its order is cancelled or expires.
 */

export interface IssuedToken {
  readonly purchaseToken: string;
  readonly productId: number;
  readonly issuedAtEpochMs: number;
  /** False: the buyer had an unused one. */
  readonly isNew: boolean;
}

const IS_UNUSED = "NOT EXISTS (SELECT 1 FROM orders o WHERE o.purchase_token_id = t.id)";

const UNUSED = `SELECT t.id, t.issued_at FROM purchase_tokens t WHERE t.product_id = $1::int AND t.user_id = $2::text
  AND ${IS_UNUSED} ORDER BY t.number LIMIT 1`;

/**
 * Makes one of two requests at the same moment make a token: the later either sees the other's in its snapshot, or counts as
 * the other did and meets its number.
 */
const ISSUE = `INSERT INTO purchase_tokens (id, product_id, user_id, number)
  SELECT $3::text, p.id, $2::text, 1 + (SELECT count(*) FROM purchase_tokens t WHERE t.product_id = p.id AND t.user_id = $2::text)
  FROM products p WHERE p.id = $1::int AND NOT EXISTS (
    SELECT 1 FROM purchase_tokens t WHERE t.product_id = p.id AND t.user_id = $2::text AND ${IS_UNUSED})
  ON CONFLICT (product_id, user_id, number) DO NOTHING RETURNING id, issued_at`;

/** Two rounds are enough: who loses the first to another request finds that one's token in the second. */
const ROUNDS = 3;

/**
 * The buyer's unused token for the product, made if there is none.
 * @throws {ShopError} `product_not_found`
 */
export async function issuePurchaseToken(productId: number, buyerId: string): Promise<IssuedToken> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const unused = await postgresPool().query<TokenRow>(UNUSED, [productId, buyerId]);
    if (unused.rows[0]) return issued(productId, unused.rows[0], false);
    const made = await postgresPool().query<TokenRow>(ISSUE, [
      productId,
      buyerId,
      randomBytes(24).toString("base64url"),
    ]);
    if (made.rows[0]) return issued(productId, made.rows[0], true);
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
 * Says before any lock is touched what is wrong with a token; that nobody uses it twice at the same moment is the index's part.
 * @throws {ShopError} `purchase_token_missing`, `purchase_token_unknown`, `purchase_token_foreign`, `purchase_token_used`
 */
export async function checkPurchaseToken({ productId, buyerId, purchaseToken }: TokenUse): Promise<void> {
  const details = { field: "purchaseToken" };
  if (purchaseToken === null) {
    const message = "purchaseToken: this product is sold to those who got a purchase token before.";
    throw new ShopError({ code: "purchase_token_missing", message, details });
  }
  const { rows } = await postgresPool().query<{ product_id: number; user_id: string; used: boolean }>(
    `SELECT product_id, user_id, EXISTS (SELECT 1 FROM orders o WHERE o.purchase_token_id = t.id) AS used
     FROM purchase_tokens t WHERE t.id = $1::text`,
    [purchaseToken],
  );
  const [row] = rows;
  if (row?.product_id !== productId) {
    const message = "purchaseToken: this product has issued no such token.";
    throw new ShopError({ code: "purchase_token_unknown", message, details });
  }
  if (row.user_id !== buyerId) {
    const message = "purchaseToken: it was issued to another buyer.";
    throw new ShopError({ code: "purchase_token_foreign", message, details });
  }
  if (row.used) throw tokenUsed();
}

export function tokenUsed(): ShopError {
  const details = { field: "purchaseToken" };
  return new ShopError({ code: "purchase_token_used", message: "purchaseToken: it has been used.", details });
}
