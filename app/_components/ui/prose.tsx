/** Text in which `backticks` mark code. */
export function Prose({ text }: { text: string }) {
  // Between the backticks lie the odd parts.
  return text.split("`").map((part, index) => {
    const key = `${index}:${part}`;
    return index % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
  });
}
