import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkPurchaseToken, issuePurchaseToken } from "./purchase-tokens";
import { isShopError } from "./shop-error";
import { useFakes } from "./testing/use-fakes";

const UNUSED = /^SELECT t\.id/;
const ISSUE = /^INSERT INTO purchase_tokens/;
const READ = /^SELECT product_id/;
const ISSUED_AT = new Date(5_000);

function isRejectedWith(code: string) {
  return (error: unknown) => isShopError(error) && error.options.code === code;
}

describe("issuePurchaseToken", () => {
  const fakes = useFakes();

  it("issues a new random token if the buyer has no unused one", async () => {
    fakes.postgres.script(UNUSED, []).script(ISSUE, ([, , token]) => [{ id: token, issued_at: ISSUED_AT }]);
    const first = await issuePurchaseToken(1, "visitor-1");
    const second = await issuePurchaseToken(1, "visitor-1");
    assert.deepEqual(
      { ...first, purchaseToken: "" },
      { purchaseToken: "", productId: 1, issuedAtEpochMs: 5_000, isNew: true },
    );
    assert.match(first.purchaseToken, /^[\w-]{32}$/);
    assert.notEqual(first.purchaseToken, second.purchaseToken);
  });

  it("returns the buyer's unused token", async () => {
    fakes.postgres.script(UNUSED, [{ id: "token-1", issued_at: ISSUED_AT }]);
    const issued = await issuePurchaseToken(1, "visitor-1");
    assert.deepEqual(issued, { purchaseToken: "token-1", productId: 1, issuedAtEpochMs: 5_000, isNew: false });
  });

  it("returns the token of a concurrent request that inserted first", async () => {
    fakes.postgres.script(UNUSED, [], [{ id: "token-1", issued_at: ISSUED_AT }]).script(ISSUE, []);
    assert.equal((await issuePurchaseToken(1, "visitor-1")).purchaseToken, "token-1");
  });

  it("rejects an unknown product", async () => {
    fakes.postgres.script(UNUSED, []).script(ISSUE, []);
    await assert.rejects(issuePurchaseToken(1, "visitor-1"), isRejectedWith("product_not_found"));
  });
});

describe("checkPurchaseToken", () => {
  const fakes = useFakes();
  const check = (purchaseToken: string | null = "token-1") =>
    checkPurchaseToken({ productId: 1, buyerId: "visitor-1", purchaseToken });

  it("accepts the buyer's unused token for the product", async () => {
    fakes.postgres.script(READ, [{ product_id: 1, user_id: "visitor-1", used: false }]);
    await check();
    assert.deepEqual(fakes.postgres.sent(READ), [["token-1"]]);
  });

  it("rejects a missing token without asking PostgreSQL", async () => {
    await assert.rejects(check(null), isRejectedWith("purchase_token_missing"));
  });

  for (const [what, rows, code] of [
    ["an unknown token", [], "purchase_token_unknown"],
    ["another product's token", [{ product_id: 2, user_id: "visitor-1", used: false }], "purchase_token_unknown"],
    ["another buyer's token", [{ product_id: 1, user_id: "visitor-2", used: false }], "purchase_token_foreign"],
    ["a used token", [{ product_id: 1, user_id: "visitor-1", used: true }], "purchase_token_used"],
  ] as const) {
    it(`rejects ${what}`, async () => {
      fakes.postgres.script(READ, [...rows]);
      await assert.rejects(check(), isRejectedWith(code));
    });
  }
});
