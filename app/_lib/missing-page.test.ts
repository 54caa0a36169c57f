import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingPage } from "./missing-page";

describe("a page that does not exist", () => {
  const cases: [string, string, string][] = [
    ["/runs/abc", "There is no run abc.", "/runs"],
    ["/shop/products/99", "There is no product 99.", "/shop"],
    ["/shop/coupons/7", "There is no coupon 7.", "/shop"],
    ["/shop/orders/12", "There is no order page 12.", "/shop/orders"],
    ["/strategies/redis-lokc", "There is no page for the strategy redis-lokc.", "/strategies"],
    ["/nothing-here", "There is no page /nothing-here.", "/"],
    ["/runs/%E0%A4%A", "There is no run %E0%A4%A.", "/runs"],
  ];
  for (const [path, title, link] of cases) {
    it(`names what ${path} asked for`, () => {
      const page = missingPage(path);
      assert.equal(page.title, title);
      assert.equal(page.links[0]?.[1], link);
    });
  }

  it("shortens a long id", () => {
    assert.equal(missingPage(`/runs/${"x".repeat(500)}`).title, `There is no run ${"x".repeat(64)}….`);
  });
});
