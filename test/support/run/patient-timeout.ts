/**
 * The timeout of stores that a test opens when waiting is not its subject. A server that a busy machine stops for a
 * second does not count as away then.
 */
export const patientTimeoutMs = 60_000;
