/** The longest wait of the gateway, in ms. A longer one is left to the client, with its length in the answer. */
export const maxRetryAfterMs = 15_000;
