/** A text whose lines do not break at the hyphens of names such as `pause-holder`. */
export function Unbroken({ text }: { text: string }) {
  // After the split, the parts with odd indices are words with a hyphen.
  return text.split(/(\S*\w-\w\S*)/).map((part, index) => {
    const key = `${index}:${part}`;
    return index % 2 === 1 ? (
      <span key={key} className="unbroken">
        {part}
      </span>
    ) : (
      part
    );
  });
}
