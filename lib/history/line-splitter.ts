/** The end line is the longest: it lists every order of the run. */
const MAX_LINE_CHARS = 256 * 1024 * 1024;

export interface NumberedLine {
  readonly number: number;
  /** Null if the line is too long to read. */
  readonly text: string | null;
}

/** Splits a stream of chunks into lines. A chunk may end anywhere, also within a character. */
export class LineSplitter {
  private readonly decoder = new TextDecoder("utf-8");
  private parts: string[] = [];
  private pendingChars = 0;
  private isTooLong = false;
  private lines = 0;

  constructor(private readonly maxLineChars: number = MAX_LINE_CHARS) {}

  /** @returns the lines that this chunk completes */
  push(chunk: string | Uint8Array): NumberedLine[] {
    const text = typeof chunk === "string" ? chunk : this.decoder.decode(chunk, { stream: true });
    const found: NumberedLine[] = [];
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      this.keep(text.slice(from, at));
      found.push(this.endLine());
      from = at + 1;
    }
    this.keep(text.slice(from));
    return found;
  }

  /** @returns the text after the last line break, if any */
  finish(): NumberedLine[] {
    this.keep(this.decoder.decode());
    return this.pendingChars > 0 || this.isTooLong ? [this.endLine()] : [];
  }

  private keep(text: string): void {
    if (text === "" || this.isTooLong) return;
    this.pendingChars += text.length;
    this.isTooLong = this.pendingChars > this.maxLineChars;
    if (this.isTooLong) this.parts = [];
    else this.parts.push(text);
  }

  private endLine(): NumberedLine {
    this.lines += 1;
    const line = { number: this.lines, text: this.isTooLong ? null : this.parts.join("") };
    this.parts = [];
    this.pendingChars = 0;
    this.isTooLong = false;
    return line;
  }
}
