"use client";

import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { LabLink } from "../ui/lab-link";
import { ConnectionLine } from "./connection-line";
import styles from "./shop-frame.module.css";
import { useShop } from "./shop-provider";

interface ShopFrameProps {
  readonly title: ReactNode;
  readonly lead: ReactNode;
  readonly children: ReactNode;
}

/** Layout of the shop's pages: navigation, title, content. */
export function ShopFrame({ title, lead, children }: ShopFrameProps) {
  const pathname = usePathname();
  const { myPurchases } = useShop();
  const waiting = myPurchases.value?.orders.filter(({ status }) => status === "pending").length ?? 0;
  return (
    <main className={styles.page} id="main">
      <nav className={styles.nav} aria-label="Shop">
        <LabLink href="/shop" aria-current={pathname === "/shop" ? "page" : undefined}>
          Sales
        </LabLink>
        <LabLink href="/shop/orders" aria-current={pathname === "/shop/orders" ? "page" : undefined}>
          My orders
          {waiting === 0 ? null : (
            <span className={styles.waiting}>
              {waiting} <span>to pay</span>
            </span>
          )}
        </LabLink>
      </nav>
      <ConnectionLine />
      <header className={styles.head}>
        <h1>{title}</h1>
        <p className="muted">{lead}</p>
      </header>
      {children}
    </main>
  );
}
