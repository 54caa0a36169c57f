/** Sentences that the HTML file has. */
const SHOWN_FINDINGS = 10;

/** The first sentences that differ, each with how often it was found; the same two nodes may have done the same again and again. */
export function distinct(sentences: readonly string[]): { findings: string[]; findingCount: number } {
  const times = new Map<string, number>();
  for (const sentence of sentences) times.set(sentence, (times.get(sentence) ?? 0) + 1);
  const shown = [...times].slice(0, SHOWN_FINDINGS);
  const findings = shown.map(([sentence, count]) => (count === 1 ? sentence : `${sentence} (${count} times)`));
  const told = shown.reduce((sum, [, count]) => sum + count, 0);
  return { findings, findingCount: findings.length + sentences.length - told };
}
