import type { Chapter } from "../chapter";
import { failover } from "./failover";
import { lostUpdate } from "./lost-update";
import { mutexAcrossNodes } from "./mutex-across-nodes";
import { noExpiry } from "./no-expiry";
import { pauseAndFencing } from "./pause-and-fencing";
import { redlockClock } from "./redlock-clock";
import { wrongDelete } from "./wrong-delete";

/** In reading order. The address of a chapter is its position, from 1. */
export const CHAPTERS: readonly Chapter[] = [
  lostUpdate,
  mutexAcrossNodes,
  noExpiry,
  wrongDelete,
  pauseAndFencing,
  failover,
  redlockClock,
];
