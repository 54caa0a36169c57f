"use client";

import { useEffect, useMemo, useRef, useState } from "react";
import { replayOf } from "@/app/_lib/replay/replay";
import { ReplayPlayer } from "@/app/_lib/replay/replay-player";
import type { RunStory } from "@/lib/runs/evidence";
import { AllStepsToggle } from "../timeline/all-steps-toggle";
import { Interleaving } from "../timeline/interleaving";
import { ReplayControls, ReplayLanes } from "./replay-lanes";
import styles from "./story.module.css";

/** What a fault did: one sentence, and the purchases that show it, step by step and over time. */
export function Story({ story }: { story: RunStory }) {
  const replay = useMemo(() => replayOf(story), [story]);
  const root = useRef<HTMLElement>(null);
  const [showsAllSteps, setShowsAllSteps] = useState(false);
  useEffect(() => {
    if (!root.current || !replay) return;
    const player = new ReplayPlayer(root.current, replay.data);
    return () => player.stop();
  }, [replay]);
  const hasMore = story.interleaving.steps.some(({ isDetail }) => isDetail);
  return (
    <section ref={root} className={styles.story} aria-label="What the fault did" data-testid="story">
      <h2>
        What <code>{story.faultId}</code> did
      </h2>
      <p className={styles.sentence} data-testid="story-sentence">
        {story.sentence}
      </p>
      <div className={styles.grid}>
        {replay ? (
          <div className={styles.replay}>
            <ReplayControls replay={replay} />
            <ReplayLanes replay={replay} />
          </div>
        ) : null}
        <div className={styles.lines}>
          <Interleaving
            lines={story.interleaving}
            showsAllSteps={showsAllSteps}
            caption={story.sentence}
            fromUs={story.fromUs}
          />
          {hasMore ? <AllStepsToggle isOn={showsAllSteps} onChange={setShowsAllSteps} /> : null}
        </div>
      </div>
    </section>
  );
}
