/** An error reply of the server. ioredis uses the same name. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}
