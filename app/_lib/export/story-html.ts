import { createHash } from "node:crypto";
import type { RunStory } from "@/lib/runs/evidence";
import { type Replay, replayOf, runTimeText } from "../replay/replay";
import { type ReplayData, ReplayPlayer } from "../replay/replay-player";
import { interleavingTable } from "./interleaving-table";
import { Markup, markup } from "./markup";

/** The story of a fault in an exported run, with its replay. */

export interface StoryHtml {
  readonly section: Markup;
  /** For the file's content security policy; null if the story has no replay. */
  readonly scriptHash: string | null;
}

export function storyHtml(story: RunStory): StoryHtml {
  const { faultId, sentence, interleaving, fromUs } = story;
  const replay = replayOf(story);
  const script = replay === null ? null : scriptOf(replay.data);
  const lines = interleavingTable(interleaving, ({ afterNs }) => `${runTimeText(fromUs, afterNs)} s`);
  const section = markup`<section class="story" id="story" aria-label="What the fault did"><h2>What <code>${faultId}</code> did</h2>
<p class="sentence">${sentence}</p>${replay === null ? null : player(replay)}${interleaving.actors.length === 0 ? null : lines}</section>
${script === null ? null : new Markup(`<script>${script}</script>`)}`;
  const scriptHash = script === null ? null : `sha256-${createHash("sha256").update(script).digest("base64")}`;
  return { section, scriptHash };
}

/** The player's class as text. The loader that runs TypeScript wraps names in `__name`, which the file does not have. */
function scriptOf(data: ReplayData): string {
  // A "<" could end the script element.
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return `const __name=(named)=>named;new(${ReplayPlayer})(document.getElementById("story"),${json});`;
}

function player({ lanes, data }: Replay): Markup {
  const states = data.states.at(-1) ?? [];
  const rows = lanes.map(({ name, bars }, index) => {
    const drawn = bars.map(
      ({ left, width, state, text }) =>
        markup`<div class="bar" data-state="${state}" title="${text}" style="left:${left}%;width:${width}%;--length:${text.length}"><span>${text}</span></div>`,
    );
    return markup`<div class="lane"><p>${name}<small data-replay="state">${states[index] ?? ""}</small></p><div class="track-row" aria-hidden="true">${drawn}</div></div>`;
  });
  return markup`<div class="play"><button type="button" class="main" data-replay="play">Play</button><button type="button" aria-label="Previous step" data-replay="back">‹</button><button type="button" aria-label="Next step" data-replay="on">›</button><label><input type="checkbox" data-replay="slow"> 1/10 speed</label><span class="time" data-replay="time">${data.times.at(-1) ?? ""}</span></div>
<div class="lanes">${rows}<div class="next" aria-hidden="true"></div></div>
<input type="range" class="seek" min="0" max="1" step="any" value="1" aria-label="Position in the replay" aria-valuetext="${data.texts.at(-1) ?? ""}" data-replay="seek">
<p class="muted">Long gaps are drawn shorter. The arrow keys, Home and End move the replay.</p>`;
}
