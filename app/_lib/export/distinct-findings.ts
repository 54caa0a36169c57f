/** Limit of sentences in the HTML file. */
const SHOWN_FINDINGS = 10;

/** The first distinct sentences, each with its number of occurrences, because the same two nodes may repeat a violation. */
export function distinctFindings(sentences: readonly string[]): { findings: string[]; findingCount: number } {
  const times = new Map<string, number>();
  for (const sentence of sentences) times.set(sentence, (times.get(sentence) ?? 0) + 1);
  const shown = [...times].slice(0, SHOWN_FINDINGS);
  const findings = shown.map(([sentence, count]) => (count === 1 ? sentence : `${sentence} (${count} times)`));
  const listedCount = shown.reduce((sum, [, count]) => sum + count, 0);
  return { findings, findingCount: findings.length + sentences.length - listedCount };
}
