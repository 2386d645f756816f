/** A longer wait, in ms, is left to the client: the answer says how long it is. */
export const maxRetryAfterMs = 15_000;
