/** Renders `backtick` spans of a text as code. */
export function Prose({ text }: { text: string }) {
  // After the split, the parts with odd indices were between backticks.
  return text.split("`").map((part, index) => {
    const key = `${index}:${part}`;
    return index % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
  });
}
