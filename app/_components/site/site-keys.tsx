"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { useShortcuts } from "@/app/_hooks/use-shortcuts";
import { Dialog } from "../ui/dialog";
import { type KeyHelp, keysOf } from "./keys";
import { useLabStatus } from "./lab-status";
import { PAGES } from "./pages";
import styles from "./site-keys.module.css";

const OPEN_EVENT = "lab:show-keys";

/** Opens the Keys dialog, as the `?` key does. */
export function showKeys(): void {
  window.dispatchEvent(new Event(OPEN_EVENT));
}

function KeyList({ title, keys }: { title: string; keys: readonly KeyHelp[] }) {
  if (keys.length === 0) return null;
  return (
    <section className={styles.group} aria-label={title}>
      <h3>{title}</h3>
      <dl className={styles.keys}>
        {keys.map((entry) => (
          <div key={entry.does}>
            <dt>
              {entry.keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{entry.does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Handles the shortcuts that work on every page and shows the Keys dialog. */
export function SiteKeys() {
  const router = useRouter();
  const { labHref } = useLabStatus();
  const [isOpen, setIsOpen] = useState(false);

  useEffect(() => {
    const open = () => setIsOpen(true);
    window.addEventListener(OPEN_EVENT, open);
    return () => window.removeEventListener(OPEN_EVENT, open);
  }, []);

  const pages = [labHref, ...PAGES.map(({ href }) => href)];
  useShortcuts({
    "?": () => setIsOpen(true),
    ...Object.fromEntries(pages.map((href, index) => [String(index + 1), () => router.push(href)])),
  });

  const marked = isOpen ? [...document.querySelectorAll<HTMLElement>("[data-keys]")] : [];
  const { here, everywhere } = keysOf(marked.map(({ dataset }) => dataset.keys ?? ""));
  return (
    <Dialog open={isOpen} title="Keys" onClose={() => setIsOpen(false)}>
      <KeyList title="On this page" keys={here} />
      <KeyList title="On every page" keys={everywhere} />
      <p className={styles.note}>Shortcuts are off while you type in a field.</p>
    </Dialog>
  );
}
