/** An error of the HTTP API, with the text and status that Toxiproxy uses. */
export class ToxiproxyError extends Error {
  override readonly name = "ToxiproxyError";
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const badRequest = (reason: string) => new ToxiproxyError(400, `bad request body: ${reason}`);
export const missingField = (field: string) => new ToxiproxyError(400, `missing required field: ${field}`);
