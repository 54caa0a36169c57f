"use client";

import { useRouter } from "next/navigation";
import { LabLink } from "@/app/_components/ui/lab-link";
import { useShortcuts } from "@/app/_hooks/use-shortcuts";
import { plural } from "@/app/_lib/format";
import button from "../ui/button.module.css";
import styles from "./pick-bar.module.css";

interface PickBarProps {
  readonly noun: string;
  readonly nouns?: string;
  readonly picked: readonly string[];
  /** URL of the comparison. */
  readonly href: string;
  readonly onClear: () => void;
}

/** Shown at the bottom of the window while rows are selected. */
export function PickBar({ noun, nouns, picked, href, onClear }: PickBarProps) {
  const router = useRouter();
  const isEnough = picked.length >= 2;
  useShortcuts({ c: () => (isEnough ? router.push(href) : undefined) });
  return (
    <div className={styles.place} data-shown={picked.length > 0} data-keys="picking">
      <p role="status" className={styles.count}>
        {picked.length === 0
          ? ""
          : `${plural(picked.length, noun, nouns)} selected${isEnough ? "" : ". Select one more to compare"}`}
      </p>
      {picked.length === 0 ? null : (
        <p className={styles.actions}>
          <button type="button" className={button.link} onClick={onClear}>
            Clear
          </button>
          {isEnough ? (
            <LabLink href={href} className={button.primary}>
              Compare {picked.length}
            </LabLink>
          ) : null}
        </p>
      )}
    </div>
  );
}
